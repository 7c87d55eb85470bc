// pingpong-grouped-*, pingpong-bulk-*: pairs that send messages to and fro.
#include <utility>
#include <vector>

#include "../actors.hpp"

using peer_atom = atom_constant<atom("peer")>;
using done_atom = atom_constant<atom("done")>;

namespace {

/// Sends each message back until it has made its hops. Tells the collector once all the messages that end here have:
/// a message ends on the side that sent it if its hops are even.
struct Side : Actor {
  Side(actor_config& config, actor collector, std::uint64_t hops, std::uint64_t endings)
    : Actor(config), collector(std::move(collector)), hops(hops), endings(endings) {}

  behavior make_behavior() override {
    return {
      [this](std::uint64_t made) {
        if (made < hops) {
          send(peer, made + 1);
          return;
        }
        sum += made;
        if (--endings == 0)
          send(collector, done_atom::value, sum);
      },
      [this](peer_atom, const actor& other, std::uint64_t flight) {
        peer = other;
        for (std::uint64_t i = 0; i < flight; ++i)
          send(peer, std::uint64_t{1});
      },
    };
  }

  actor collector;
  actor peer;
  const std::uint64_t hops;
  std::uint64_t endings;
  std::uint64_t sum = 0;
};

struct Collector : Actor {
  Collector(actor_config& config, Run& run, bool bulk) : Actor(config), run(run), bulk(bulk) {}

  behavior make_behavior() override {
    auto flight = bulk ? run["flight"] : 1;
    std::vector<std::pair<actor, actor>> pairs;
    for (std::uint64_t i = 0; i < run["pairs"]; ++i)
      pairs.emplace_back(make_side(flight), make_side(flight));
    for (auto& [a, b] : pairs) {
      // The second learns of its peer before a message of that one can come.
      send(b, peer_atom::value, a, bulk ? flight : 0);
      send(a, peer_atom::value, b, flight);
    }
    return {[this, sides = pairs.size() * (bulk ? 2 : 1)](done_atom, std::uint64_t hops) {
      sum += hops;
      if (++done == sides)
        run.finish(sum);
    }};
  }

  actor make_side(std::uint64_t endings) { return spawn<Side>(self(), run["hops"], endings); }

  Run& run;
  const bool bulk;
  std::uint64_t done = 0;
  std::uint64_t sum = 0;
};

} // namespace

void headline::pingpong_grouped(Run& run) {
  run.operations = run["pairs"] * run["hops"];
  run.begin();
  run.system.spawn<Collector>(run, false);
}

void headline::pingpong_bulk(Run& run) {
  run.operations = run["pairs"] * 2 * run["flight"] * run["hops"];
  run.begin();
  run.system.spawn<Collector>(run, true);
}
