// dining-scale: philosophers hold two forks, each an actor, while they work.
#include <deque>
#include <vector>

#include "../actors.hpp"
#include "../work.hpp"

using take_atom = atom_constant<atom("take")>;
using taken_atom = atom_constant<atom("taken")>;
using release_atom = atom_constant<atom("release")>;
using meals_atom = atom_constant<atom("meals")>;

namespace {

/// Goes to who asks first; the other waits.
struct Fork : Actor {
  explicit Fork(actor_config& config) : Actor(config) {}

  behavior make_behavior() override {
    return {
      [this](take_atom) {
        takers.push_back(sender());
        if (takers.size() == 1)
          send(takers.front(), taken_atom::value);
      },
      [this](release_atom) {
        takers.pop_front();
        if (!takers.empty())
          send(takers.front(), taken_atom::value);
      },
    };
  }

  std::deque<actor> takers;
};

/// Neighbours take the fork between them both first, or both second: who has a second fork eats, so no circle of
/// waiting can form, and no row of philosophers that each hold one fork and wait for the next.
struct Philosopher : Actor {
  Philosopher(actor_config& config, Run& run, actor table, actor first, actor second)
    : Actor(config),
      table(std::move(table)),
      first(std::move(first)),
      second(std::move(second)),
      rounds(run["meals"]),
      work(run["work"]) {}

  behavior make_behavior() override {
    send(first, take_atom::value);
    return {[this](taken_atom) {
      if (++held == 1)
        send(second, take_atom::value);
      else
        eat();
    }};
  }

  void eat() {
    busy(work);
    held = 0;
    send(first, release_atom::value);
    send(second, release_atom::value);
    if (++meals < rounds) {
      send(first, take_atom::value);
    } else {
      send(table, meals_atom::value, meals);
      quit();
    }
  }

  actor table;
  actor first;
  actor second;
  const std::uint64_t rounds;
  const std::uint64_t work;
  int held = 0;
  std::uint64_t meals = 0;
};

struct Table : Actor {
  Table(actor_config& config, Run& run) : Actor(config), run(run), count(run["philosophers"]) {}

  behavior make_behavior() override {
    std::vector<actor> forks;
    for (std::uint64_t i = 0; i < count; ++i)
      forks.push_back(spawn<Fork>());
    for (std::uint64_t i = 0; i < count; ++i) {
      auto& left = forks[i];
      auto& right = forks[(i + 1) % count];
      if (i % 2 == 0)
        spawn<Philosopher>(run, self(), left, right);
      else
        spawn<Philosopher>(run, self(), right, left);
    }
    return {[this](meals_atom, std::uint64_t meals) {
      sum += meals;
      if (++gone == count)
        run.finish(sum);
    }};
  }

  Run& run;
  const std::uint64_t count;
  std::uint64_t gone = 0;
  std::uint64_t sum = 0;
};

} // namespace

void headline::dining_scale(Run& run) {
  run.operations = run["philosophers"] * run["meals"];
  run.begin();
  run.system.spawn<Table>(run);
}
