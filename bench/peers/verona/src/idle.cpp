// Cowns that have nothing to do, made and dropped: `idle-cowns`, `actor-ends`.
#include "runtime.hpp"

#include <fstream>
#include <unistd.h>

namespace {

std::uint64_t resident() {
    std::ifstream status("/proc/self/statm");
    std::uint64_t size = 0, pages = 0;
    status >> size >> pages;
    return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// A behaviour makes them into memory that is already resident; the three that are asked in the end show that all live.
Measured idle(const Parameters& parameters) {
    const auto count = parameters["cowns"];
    std::vector<cown_ptr<std::uint64_t>> all(count);
    std::uint64_t grown = 0;
    Clock::duration elapsed{};
    auto measured = run(parameters["workers"], count, 3, [&](Finish& finish) {
        const auto before = resident();
        const auto begun = Clock::now();
        for (std::uint64_t i = 0; i < count; ++i) all[i] = make_cown<std::uint64_t>(i);
        elapsed = Clock::now() - begun;
        grown = resident() - before;
        for (const auto witness : {std::uint64_t{0}, count / 2, count - 1})
            when(all[witness]) << [&finish](auto number) { finish.part(*number); };
    });
    measured.elapsed = elapsed;
    measured.bytes_each = static_cast<double>(grown) / static_cast<double>(count);
    return measured;
}

// A state that is counted when it is dropped.
struct Counted {
    Finish& finish;

    explicit Counted(Finish& finish) : finish(finish) {}

    ~Counted() { finish.part(1); }
};

// One behaviour makes them all, another drops the last handle of each.
Measured ends(const Parameters& parameters) {
    const auto count = parameters["actors"];
    return run(parameters["workers"], count, count, [=](Finish& finish) {
        std::vector<cown_ptr<Counted>> all;
        all.reserve(count);
        for (std::uint64_t i = 0; i < count; ++i) all.push_back(make_cown<Counted>(finish));
        when() << [&finish, all = std::move(all)]() mutable {
            finish.begin();
            all.clear();
        };
    });
}

}  // namespace

void add_idle(Programs& programs) {
    programs.push_back({"idle-cowns", "verona", 1, "make_cown of a number, in a behaviour", idle});
    programs.push_back({"actor-ends", "verona", 1, "the last handle of each cown is dropped in a behaviour", ends});
}
