// ring-nfold-*: several rings, a token in each. CAF has no way to keep a ring on one thread.
#include <vector>

#include "../actors.hpp"

using next_atom = atom_constant<atom("next")>;
using done_atom = atom_constant<atom("done")>;

namespace {

struct Node : Actor {
  Node(actor_config& config, actor collector, actor next, std::uint64_t hops)
    : Actor(config), collector(std::move(collector)), next(std::move(next)), hops(hops) {}

  behavior make_behavior() override {
    return {
      [this](std::uint64_t made) {
        if (made == hops)
          send(collector, done_atom::value, made);
        else
          send(next, made + 1);
      },
      [this](next_atom, const actor& first) { next = first; },
    };
  }

  actor collector;
  actor next;
  const std::uint64_t hops;
};

struct Collector : Actor {
  Collector(actor_config& config, Run& run) : Actor(config), run(run) {}

  behavior make_behavior() override {
    auto rings = run["rings"];
    std::vector<actor> starts;
    for (std::uint64_t i = 0; i < rings; ++i)
      starts.push_back(make_ring());
    for (auto& start : starts)
      send(start, std::uint64_t{0});
    return {[this, rings](done_atom, std::uint64_t hops) {
      sum += hops;
      if (++done == rings)
        run.finish(sum);
    }};
  }

  actor make_ring() {
    auto hops = run["hops"];
    auto last = spawn<Node>(self(), actor{}, hops);
    auto first = last;
    for (std::uint64_t i = 1; i < run["nodes"]; ++i)
      first = spawn<Node>(self(), first, hops);
    send(last, next_atom::value, first);
    return last;
  }

  Run& run;
  std::uint64_t done = 0;
  std::uint64_t sum = 0;
};

} // namespace

void headline::ring_nfold(Run& run) {
  run.operations = run["rings"] * run["hops"];
  run.begin();
  run.system.spawn<Collector>(run);
}
