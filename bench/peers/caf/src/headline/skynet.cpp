// skynet, skynet-stop: a tree of actors, ten children each, whose leaves answer their numbers.
#include <vector>

#include "../actors.hpp"

namespace {

/// `keep`: the actors stay alive, parent and children holding each other; else each ends once it has answered.
struct Node : Actor {
  Node(actor_config& config, Run& run, actor parent, std::uint64_t first, std::uint64_t leaves, bool keep)
    : Actor(config), run(run), parent(std::move(parent)), first(first), leaves(leaves), keep(keep) {}

  behavior make_behavior() override {
    if (leaves == 1) {
      answer_parent(first);
    } else {
      for (std::uint64_t i = 0; i < 10; ++i) {
        auto child = spawn<Node>(run, self(), first + i * (leaves / 10), leaves / 10, keep);
        if (keep)
          children.push_back(std::move(child));
      }
    }
    if (leaves == 1 && !keep)
      return {}; // an actor without a behaviour ends
    return {[this](std::uint64_t answer) {
      sum += answer;
      if (++answers == 10)
        answer_parent(sum);
    }};
  }

  void answer_parent(std::uint64_t answer) {
    if (parent)
      send(parent, answer);
    else
      run.finish(answer);
    if (!keep)
      quit();
  }

  Run& run;
  actor parent;
  const std::uint64_t first;
  const std::uint64_t leaves;
  const bool keep;
  std::vector<actor> children;
  int answers = 0;
  std::uint64_t sum = 0;
};

void start(Run& run, bool keep) {
  auto leaves = run["leaves"];
  run.operations = 0;
  for (auto level = leaves; level > 0; level /= 10)
    run.operations += level;
  run.begin();
  run.system.spawn<Node>(run, actor{}, std::uint64_t{0}, leaves, keep);
}

} // namespace

void headline::skynet(Run& run) {
  start(run, true);
}

void headline::skynet_stop(Run& run) {
  start(run, false);
  run.system.await_all_actors_done();
  run.stop_clock();
}
