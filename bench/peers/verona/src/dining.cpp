// Dining philosophers: `cown-dining`.
#include "runtime.hpp"

namespace {

struct Fork {
    std::uint64_t uses = 0;
};

// The forks of a meal are those of the next, and their handles are lent by the meal: none is copied.
void eat(const cown_ptr<Fork>& left, const cown_ptr<Fork>& right, std::uint64_t hunger, Finish& finish) {
    if (hunger == 0) return finish.part(0);
    when(left, right) << [hunger, &finish](auto left, auto right) {
        ++left->uses;
        ++right->uses;
        eat(left.cown(), right.cown(), hunger - 1, finish);
    };
}

Measured dine(const Parameters& parameters) {
    const auto seats = parameters["philosophers"], meals = parameters["meals_each"];
    std::vector<cown_ptr<Fork>> forks;
    return run(parameters["workers"], seats * meals, seats, [&](Finish& finish) {
        // The uses are counted when all have eaten.
        finish.after = [&] {
            when(cown_array<Fork>(forks.data(), seats)) << [&finish](auto forks) {
                for (std::size_t i = 0; i < forks.length(); ++i) finish.add(forks[i]->uses);
            };
        };
        for (std::uint64_t i = 0; i < seats; ++i) forks.push_back(make_cown<Fork>());
        finish.begin();
        for (std::uint64_t seat = 0; seat < seats; ++seat) eat(forks[seat], forks[(seat + 1) % seats], meals, finish);
    });
}

}  // namespace

void add_dining(Programs& programs) {
    programs.push_back({"cown-dining", "verona", 1, "a behaviour a meal, on the cowns of two forks", dine});
}
