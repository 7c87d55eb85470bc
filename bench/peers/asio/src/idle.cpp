// A million idle actors: `spawn`.
#include "runtime.hpp"

#include <fstream>
#include <unistd.h>

namespace {

struct Idle {
    Idle(Pool& pool, std::uint64_t state) : strand(pool.executor()), state(state) {}

    Strand strand;
    std::uint64_t state;
};

std::uint64_t resident() {
    std::ifstream status("/proc/self/statm");
    std::uint64_t size = 0, pages = 0;
    status >> size >> pages;
    return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

Measured spawn(const Parameters& parameters) {
    const auto count = parameters["actors"];
    std::vector<std::unique_ptr<Idle>> actors;
    Pool pool(parameters["workers"]);
    const auto before = resident();
    const auto begun = Clock::now();
    actors.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) actors.push_back(std::make_unique<Idle>(pool, i));
    const auto elapsed = Clock::now() - begun;
    const auto grown = resident() - before;

    // That all live is shown outside of the clock.
    Finish finish;
    Gather gather(finish, count);
    for (const auto& actor : actors)
        asio::post(actor->strand, [&gather, &actor = *actor, i = &actor - actors.data()] {
            gather.tell(actor.state == static_cast<std::uint64_t>(i) ? 1 : 0);
        });
    const auto answered = finish.wait(begun, count).result;
    return {elapsed, count, answered, static_cast<double>(grown) / static_cast<double>(count)};
}

}  // namespace

void add_idle(Programs& programs) {
    programs.push_back({"spawn", "asio", 1, "objects with a strand and a number", spawn});
}
