// A tree of cowns: `cown-skynet`.
#include "runtime.hpp"

namespace {

constexpr std::uint64_t width = 10;

struct Node {
    Finish& finish;
    // None above the root.
    cown_ptr<Node> parent;
    std::uint64_t total = 0;
    std::uint64_t missing = width;

    Node(Finish& finish, cown_ptr<Node> parent) : finish(finish), parent(std::move(parent)) {}

    void report(std::uint64_t sum);

    void add(std::uint64_t sum) {
        total += sum;
        if (--missing == 0) report(total);
    }
};

void Node::report(std::uint64_t sum) {
    if (!parent) return finish.part(sum);
    // A node reports once, so its parent is handed on.
    when(std::move(parent)) << [sum](auto parent) { parent->add(sum); };
}

void grow(Finish& finish, cown_ptr<Node> parent, std::uint64_t first, std::uint64_t leaves) {
    auto node = make_cown<Node>(finish, std::move(parent));
    if (leaves == 1) {
        when(std::move(node)) << [first](auto node) { node->report(first); };
    } else {
        when(std::move(node)) << [first, leaves](auto node) {
            const auto part = leaves / width;
            for (std::uint64_t child = 0; child < width; ++child)
                grow(node->finish, node.cown(), first + child * part, part);
        };
    }
}

Measured skynet(const Parameters& parameters) {
    const auto leaves = parameters["leaves"];
    return run(parameters["workers"], parameters["nodes"], 1, [=](Finish& finish) {
        finish.begin();
        grow(finish, {}, 0, leaves);
    });
}

}  // namespace

void add_skynet(Programs& programs) {
    programs.push_back({"cown-skynet", "verona", 1, "a cown a node; a behaviour to make it, one to report", skynet});
}
