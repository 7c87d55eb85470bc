// Pairs: `pingpong-grouped-*` (one message each) and `pingpong-bulk-*` (many in flight).
#include "runtime.hpp"

namespace {

// A player sends back as the last thing it does, so it says `defer`.
template <typename Executor>
class Player {
public:
    Player(const Executor& executor, Gather& gather, std::uint64_t hops)
        : executor(executor), gather(gather), hops(hops) {}

    void serve(std::uint64_t balls) {
        for (std::uint64_t i = 0; i < balls; ++i) send(0);
    }

    Player* other = nullptr;
    Executor executor;

private:
    void receive(std::uint64_t made) {
        if (made == hops)
            gather.tell(made);
        else
            send(made);
    }

    void send(std::uint64_t made) {
        asio::defer(other->executor, [other = other, made] { other->receive(made + 1); });
    }

    Gather& gather;
    std::uint64_t hops;
};

// `place` gives the executor of the left (0) or right (1) side of a pair.
template <typename Executor, typename Threads, typename Place>
Measured play(Threads& threads, const Parameters& parameters, bool bulk, Place place) {
    using Side = Player<Executor>;
    const auto pairs = parameters["pairs"], hops = parameters["hops"];
    const auto flight = bulk ? parameters["flight"] : 1;
    const auto balls = pairs * (bulk ? 2 * flight : 1);
    Finish finish;
    Gather gather(finish, balls);
    std::vector<std::unique_ptr<Side>> all;
    const auto begun = Clock::now();
    for (std::uint64_t pair = 0; pair < pairs; ++pair) {
        auto& left = *all.emplace_back(std::make_unique<Side>(place(0), gather, hops));
        auto& right = *all.emplace_back(std::make_unique<Side>(place(1), gather, hops));
        left.other = &right;
        right.other = &left;
        asio::post(left.executor, [&left, flight] { left.serve(flight); });
        if (bulk) asio::post(right.executor, [&right, flight] { right.serve(flight); });
    }
    return finish.wait(threads, begun, balls * hops);
}

template <bool bulk>
Measured strands(const Parameters& parameters) {
    Pool pool(parameters["workers"]);
    return play<Strand>(pool, parameters, bulk, [&](std::uint64_t) { return pool.strand(); });
}

template <bool bulk>
Measured contexts(const Parameters& parameters) {
    Contexts contexts(parameters["workers"]);
    return play<asio::io_context::executor_type>(contexts, parameters, bulk,
                                                 [&](std::uint64_t side) { return contexts.executor(side); });
}

}  // namespace

void add_pairs(Programs& programs) {
    for (const std::string size : {"100", "1000", "10000"}) {
        programs.push_back({"pingpong-grouped-" + size, "asio", 1, "a strand a side, on one pool", strands<false>});
        programs.push_back({"pingpong-grouped-" + size, "asio-contexts", 1,
                            "an io_context a thread, the sides of a pair on different ones, without strands",
                            contexts<false>});
        programs.push_back({"pingpong-bulk-" + size, "asio", 1, "a strand a side, on one pool", strands<true>});
        programs.push_back({"pingpong-bulk-" + size, "asio-contexts", 1,
                            "an io_context a thread, the sides of a pair on different ones, without strands",
                            contexts<true>});
    }
}
