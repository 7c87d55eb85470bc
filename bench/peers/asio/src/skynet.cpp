// A tree of ten children each: `skynet` (all live until the clock stops) and `skynet-stop` (all have ended by then).
#include "runtime.hpp"

namespace {

constexpr std::uint64_t children = 10;

// `stopping` nodes free themselves before they answer, so all have ended when the root knows the sum.
template <bool stopping>
class Node {
public:
    Node(Pool& pool, Finish& finish, Node* parent, std::uint64_t number, std::uint64_t leaves)
        : strand(pool.strand()), pool(pool), finish(finish), parent(parent), number(number), leaves(leaves) {}

    // Only what lives until the clock has stopped is freed by its parent.
    ~Node() {
        if constexpr (!stopping)
            for (const auto child : own) delete child;
    }

    void start() {
        asio::post(strand, [this] { run(); });
    }

private:
    void run() {
        if (leaves == 1) return answer(number);
        const auto size = leaves / children;
        for (std::uint64_t i = 0; i < children; ++i) {
            const auto child = new Node(pool, finish, this, number + i * size, size);
            if constexpr (!stopping) own[i] = child;
            child->start();
        }
    }

    void add(std::uint64_t part) {
        sum += part;
        if (++answered == children) answer(sum);
    }

    void answer(std::uint64_t value) {
        const auto to = parent;
        auto& end = finish;
        if constexpr (stopping) delete this;
        if (to)
            asio::defer(to->strand, [to, value] { to->add(value); });
        else
            end.tell(value);
    }

    Strand strand;
    Pool& pool;
    Finish& finish;
    Node* parent;
    std::uint64_t number;
    std::uint64_t leaves;
    std::uint64_t sum = 0;
    std::uint64_t answered = 0;
    Node* own[stopping ? 1 : children] = {};
};

std::uint64_t nodes_below(std::uint64_t leaves) { return leaves == 1 ? 1 : leaves + nodes_below(leaves / children); }

template <bool stopping>
Measured skynet(const Parameters& parameters) {
    const auto leaves = parameters["leaves"];
    Finish finish;
    Pool pool(parameters["workers"]);
    const auto begun = Clock::now();
    const auto root = new Node<stopping>(pool, finish, nullptr, 0, leaves);
    root->start();
    const auto measured = finish.wait(pool, begun, nodes_below(leaves));
    if constexpr (!stopping) delete root;
    return measured;
}

}  // namespace

void add_skynet(Programs& programs) {
    programs.push_back({"skynet", "asio", 1, "a strand a node, all kept until the clock has stopped", skynet<false>});
    programs.push_back({"skynet-stop", "asio", 1, "a strand a node, which frees itself and then answers", skynet<true>});
}
