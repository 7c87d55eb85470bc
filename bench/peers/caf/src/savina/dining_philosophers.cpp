// dining-philosophers: an arbiter holds the forks; who is denied asks again at once.
#include <vector>

#include "../actors.hpp"

using hungry_atom = atom_constant<atom("hungry")>;
using eat_atom = atom_constant<atom("eat")>;
using denied_atom = atom_constant<atom("denied")>;
using done_atom = atom_constant<atom("done")>;
using exit_atom = atom_constant<atom("exit")>;

namespace {

struct Philosopher : Actor {
  Philosopher(actor_config& config, actor arbiter, std::uint64_t number, std::uint64_t rounds)
    : Actor(config), arbiter(std::move(arbiter)), number(number), rounds(rounds) {}

  behavior make_behavior() override {
    hungry();
    return {
      [this](denied_atom) { hungry(); },
      [this](eat_atom) {
        ++meals;
        send(arbiter, done_atom::value, number);
        if (meals < rounds) {
          hungry();
        } else {
          send(arbiter, exit_atom::value, meals);
          quit();
        }
      },
    };
  }

  void hungry() { send(arbiter, hungry_atom::value, number); }

  actor arbiter;
  const std::uint64_t number;
  const std::uint64_t rounds;
  std::uint64_t meals = 0;
};

struct Arbiter : Actor {
  Arbiter(actor_config& config, Run& run) : Actor(config), run(run), taken(run["philosophers"]) {}

  behavior make_behavior() override {
    for (std::uint64_t i = 0; i < taken.size(); ++i)
      spawn<Philosopher>(self(), i, run["rounds"]);
    return {
      [this](hungry_atom, std::uint64_t i) {
        auto right = (i + 1) % taken.size();
        if (taken[i] || taken[right]) {
          answer(denied_atom::value);
        } else {
          taken[i] = taken[right] = true;
          answer(eat_atom::value);
        }
      },
      [this](done_atom, std::uint64_t i) { taken[i] = taken[(i + 1) % taken.size()] = false; },
      [this](exit_atom, std::uint64_t meals) {
        sum += meals;
        if (++gone == taken.size())
          run.finish(sum);
      },
    };
  }

  Run& run;
  std::vector<bool> taken;
  std::uint64_t gone = 0;
  std::uint64_t sum = 0;
};

} // namespace

void savina::dining_philosophers(Run& run) {
  run.operations = run["philosophers"] * run["rounds"];
  run.begin();
  run.system.spawn<Arbiter>(run);
}
