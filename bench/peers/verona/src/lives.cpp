// Cowns that are made and dropped at once, some at a time: `actor-lives`.
#include "runtime.hpp"

namespace {

// What the lives of one round share. Its end counts them, and begins the next round.
struct Round {
    Finish& finish;
    std::uint64_t at_once;
    // Rounds to come after it.
    std::uint64_t left;

    Round(Finish& finish, std::uint64_t at_once, std::uint64_t left) : finish(finish), at_once(at_once), left(left) {}

    ~Round();
};

// The state of each: the round that it belongs to, and ends with the last of it.
struct Life {
    std::shared_ptr<Round> round;

    explicit Life(std::shared_ptr<Round> round) : round(std::move(round)) {}
};

void begin(Finish& finish, std::uint64_t at_once, std::uint64_t left) {
    when() << [&finish, at_once, left] {
        const auto round = std::make_shared<Round>(finish, at_once, left);
        for (std::uint64_t i = 0; i < at_once; ++i) make_cown<Life>(round);
    };
}

Round::~Round() {
    finish.part(at_once);
    if (left > 0) begin(finish, at_once, left - 1);
}

Measured lives(const Parameters& parameters) {
    const auto rounds = parameters["rounds"], at_once = parameters["at_once"];
    return run(parameters["workers"], rounds * at_once, rounds, [=](Finish& finish) {
        finish.begin();
        begin(finish, at_once, rounds - 1);
    });
}

}  // namespace

void add_lives(Programs& programs) {
    programs.push_back({"actor-lives", "verona", 1, "a cown is made, and its handle dropped", lives});
}
