// Producers that add to one counter: `two-producers`, `two-producers-spawned`, `many-to-one-spawned`,
// `one-cown`.
#include "runtime.hpp"

namespace {

// The last add ends the run.
struct Counter {
    Finish& finish;
    std::uint64_t awaited;
    std::uint64_t sum = 0;

    Counter(Finish& finish, std::uint64_t awaited) : finish(finish), awaited(awaited) {}

    void add(std::uint64_t amount) {
        sum += amount;
        if (sum == awaited) finish.part(sum);
    }
};

void add_all(const cown_ptr<Counter>& counter, std::uint64_t each) {
    for (std::uint64_t i = 0; i < each; ++i)
        when(counter) << [](auto counter) { counter->add(1); };
}

Measured spawned(const Parameters& parameters) {
    const auto producers = parameters["producers"], each = parameters["adds_each"];
    const auto total = producers * each;
    return run(parameters["workers"], total, 1, [=](Finish& finish) {
        const auto counter = make_cown<Counter>(finish, total);
        finish.begin();
        for (std::uint64_t i = 0; i < producers; ++i)
            when() << [counter, each] { add_all(counter, each); };
    });
}

Measured from_threads(const Parameters& parameters) {
    const auto producers = parameters["producers"], each = parameters["adds_each"];
    const auto total = producers * each;
    Finish finish(1);
    const auto counter = make_cown<Counter>(finish, total);
    run_threads(parameters["workers"], producers, finish, [&] { add_all(counter, each); });
    return finish.measured(total);
}

}  // namespace

void add_producers(Programs& programs) {
    // Without `many-to-one`: of twenty plain threads each spins until the one before it in the queue has linked itself. With
    // fewer processors that takes a time slice an add.
    programs.push_back({"two-producers", "verona", 1, "a behaviour an add, from plain threads", from_threads});
    programs.push_back({"two-producers-spawned", "verona", 1, "a behaviour an add, spawned by behaviours", spawned});
    programs.push_back({"many-to-one-spawned", "verona", 1, "a behaviour an add, spawned by twenty behaviours", spawned});
    programs.push_back({"one-cown", "verona", 1, "a behaviour an add, spawned by one behaviour", spawned});
}
