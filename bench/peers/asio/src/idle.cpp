// A million idle actors: `spawn`.
#include "runtime.hpp"

#include <fstream>
#include <unistd.h>

namespace {

template <typename Strand>
struct Idle {
    Idle(const Strand& strand, std::uint64_t state) : strand(strand), state(state) {}

    Strand strand;
    std::uint64_t state;
};

std::uint64_t resident() {
    std::ifstream status("/proc/self/statm");
    std::uint64_t size = 0, pages = 0;
    status >> size >> pages;
    return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// `make` makes the strand of an actor.
template <typename Own, typename Make>
Measured spawn(Pool& pool, const Parameters& parameters, Make make) {
    const auto count = parameters["actors"];
    std::vector<std::unique_ptr<Idle<Own>>> actors;
    const auto before = resident();
    const auto begun = Clock::now();
    actors.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) actors.push_back(std::make_unique<Idle<Own>>(make(), i));
    const auto elapsed = Clock::now() - begun;
    const auto grown = resident() - before;

    // That all live is shown outside of the clock.
    Finish finish;
    Gather gather(finish, count);
    for (std::uint64_t i = 0; i < count; ++i)
        asio::post(actors[i]->strand, [&gather, &actor = *actors[i], i] { gather.tell(actor.state == i ? 1 : 0); });
    const auto answered = finish.wait(pool, begun, count).result;
    return {elapsed, count, answered, static_cast<double>(grown) / static_cast<double>(count)};
}

Measured sharing(const Parameters& parameters) {
    Pool pool(parameters["workers"]);
    return spawn<Strand>(pool, parameters, [&] { return pool.strand(); });
}

Measured owning(const Parameters& parameters) {
    using Own = asio::strand<asio::io_context::executor_type>;
    Pool pool(parameters["workers"]);
    return spawn<Own>(pool, parameters, [&] { return Own(pool.executor()); });
}

}  // namespace

void add_idle(Programs& programs) {
    programs.push_back({"spawn", "asio", 1, "objects with an io_context::strand, which share 193 queues", sharing});
    programs.push_back({"spawn", "asio-strand", 1, "objects with an asio::strand, which has a queue of its own", owning});
}
