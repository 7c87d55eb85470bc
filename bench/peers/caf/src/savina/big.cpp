// big: every actor pings actors drawn at random, one after the other.
#include <vector>

#include "../actors.hpp"
#include "../random.hpp"

using ping_atom = atom_constant<atom("ping")>;
using pong_atom = atom_constant<atom("pong")>;
using end_atom = atom_constant<atom("end")>;

namespace {

struct Player : Actor {
  Player(actor_config& config, actor sink, std::uint64_t number, std::uint64_t pings)
    : Actor(config), sink(std::move(sink)), number(number), left(pings), random(number + 1) {}

  behavior make_behavior() override {
    return {
      [this](ping_atom, std::uint64_t) { answer(pong_atom::value, number); },
      [this](pong_atom, std::uint64_t from) {
        if (from == partner)
          ++right;
        ping();
      },
      [this](std::vector<actor>& all) {
        players = std::move(all);
        ping();
      },
      [this](end_atom) {
        players.clear(); // the players hold each other
        quit();
      },
    };
  }

  void ping() {
    if (left == 0) {
      send(sink, right);
      return;
    }
    --left;
    partner = random.below(players.size());
    send(players[partner], ping_atom::value, number);
  }

  actor sink;
  const std::uint64_t number;
  std::uint64_t left;
  R16 random;
  std::vector<actor> players;
  std::uint64_t partner = 0;
  std::uint64_t right = 0;
};

struct Sink : Actor {
  Sink(actor_config& config, Run& run) : Actor(config), run(run) {}

  behavior make_behavior() override {
    for (std::uint64_t i = 0; i < run["actors"]; ++i)
      players.push_back(spawn<Player>(self(), i, run["pings"]));
    for (auto& player : players)
      send(player, players);
    return {[this](std::uint64_t right) {
      sum += right;
      if (++told < players.size())
        return;
      for (auto& player : players)
        send(player, end_atom::value);
      run.finish(sum);
    }};
  }

  Run& run;
  std::vector<actor> players;
  std::uint64_t told = 0;
  std::uint64_t sum = 0;
};

} // namespace

void savina::big(Run& run) {
  run.operations = run["actors"] * run["pings"];
  run.begin();
  run.system.spawn<Sink>(run);
}
