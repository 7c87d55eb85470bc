// Tokens that go round in rings: `cown-ring`, `cown-rings`, `cown-pairs`, `cown-pairs-bulk`, `actor-ping-pong`.
#include "runtime.hpp"

namespace {

struct Node {
    Finish& finish;
    cown_ptr<Node> next;

    explicit Node(Finish& finish) : finish(finish) {}

    // Passes a token on that has made `done` of its hops.
    void pass(std::uint64_t done, std::uint64_t hops);

    void take(std::uint64_t done, std::uint64_t hops) {
        if (done == hops)
            finish.part(done);
        else
            pass(done, hops);
    }
};

void Node::pass(std::uint64_t done, std::uint64_t hops) {
    when(next) << [done = done + 1, hops](auto next) { next->take(done, hops); };
}

// Closes the rings, lets the tokens go, and opens the rings again so that they can be freed.
Measured turn(const Parameters& parameters) {
    const auto rings = parameters["rings"], length = parameters["nodes"], tokens = parameters["tokens"];
    const auto hops = parameters["hops"];
    std::vector<cown_ptr<Node>> nodes;
    return run(parameters["workers"], rings * tokens * hops, rings * tokens, [&](Finish& finish) {
        finish.after = [&nodes] {
            for (const auto& node : nodes) when(node) << [](auto node) { node->next = nullptr; };
        };
        for (std::uint64_t i = 0; i < rings * length; ++i) nodes.push_back(make_cown<Node>(finish));
        for (std::uint64_t i = 0; i < nodes.size(); ++i) {
            const auto after = (i + 1) % length == 0 ? i + 1 - length : i + 1;
            when(nodes[i]) << [next = nodes[after]](auto node) mutable { node->next = std::move(next); };
        }
        when(cown_array<Node>(nodes.data(), nodes.size())) << [=, &finish](auto nodes) {
            finish.begin();
            // The tokens of a ring start as far from each other as they can.
            for (std::uint64_t ring = 0; ring < rings; ++ring)
                for (std::uint64_t token = 0; token < tokens; ++token)
                    nodes[ring * length + token * length / tokens]->pass(0, hops);
        };
    });
}

}  // namespace

void add_rings(Programs& programs) {
    for (const auto* workload : {"cown-ring", "cown-rings", "cown-pairs", "cown-pairs-bulk", "actor-ping-pong"})
        programs.push_back({workload, "verona", 1, "a cown a node, a behaviour a hop", turn});
}
