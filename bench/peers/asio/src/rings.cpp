// Rings with a token each: `ring-nfold-*`.
#include "runtime.hpp"

namespace {

// A node hands on as the last thing it does, so it says `defer`: the handler may run on this thread when this one ends.
template <typename Executor>
class Node {
public:
    Node(const Executor& executor, Gather& gather, std::uint64_t hops)
        : executor(executor), gather(gather), hops(hops) {}

    // `made` is how many hops the token has made.
    void receive(std::uint64_t made) {
        if (made == hops)
            gather.tell(made);
        else
            asio::defer(next->executor, [next = next, made] { next->receive(made + 1); });
    }

    Executor executor;
    Node* next = nullptr;

private:
    Gather& gather;
    std::uint64_t hops;
};

// `place` gives the executor of a node of a ring.
template <typename Executor, typename Threads, typename Place>
Measured turn(Threads& threads, const Parameters& parameters, Place place) {
    using Link = Node<Executor>;
    const auto rings = parameters["rings"], nodes = parameters["nodes"], hops = parameters["hops"];
    Finish finish;
    Gather gather(finish, rings);
    std::vector<std::vector<std::unique_ptr<Link>>> all(rings);
    const auto begun = Clock::now();
    for (std::uint64_t ring = 0; ring < rings; ++ring) {
        auto& links = all[ring];
        for (std::uint64_t i = 0; i < nodes; ++i)
            links.push_back(std::make_unique<Link>(place(ring), gather, hops));
        for (std::uint64_t i = 0; i < nodes; ++i) links[i]->next = links[(i + 1) % nodes].get();
        asio::post(links[0]->executor, [first = links[0].get()] { first->receive(0); });
    }
    return finish.wait(threads, begun, rings * hops);
}

Measured strands(const Parameters& parameters) {
    Pool pool(parameters["workers"]);
    return turn<Strand>(pool, parameters, [&](std::uint64_t) { return pool.strand(); });
}

Measured contexts(const Parameters& parameters) {
    Contexts contexts(parameters["workers"]);
    return turn<asio::io_context::executor_type>(contexts, parameters, [&](std::uint64_t ring) { return contexts.executor(ring); });
}

}  // namespace

void add_rings(Programs& programs) {
    for (const std::string size : {"100", "1000", "10000"}) {
        programs.push_back({"ring-nfold-" + size, "asio", 1, "a strand a node, on one pool", strands});
        programs.push_back({"ring-nfold-" + size, "asio-contexts", 1,
                            "an io_context a thread, each ring on one of them, without strands", contexts});
    }
}
