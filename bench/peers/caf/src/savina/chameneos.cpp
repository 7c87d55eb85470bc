// chameneos: creatures meet in pairs at a mall, and change colour.
#include <vector>

#include "../actors.hpp"

using meet_atom = atom_constant<atom("meet")>;
using change_atom = atom_constant<atom("change")>;
using exit_atom = atom_constant<atom("exit")>;

namespace {

std::uint32_t complement(std::uint32_t a, std::uint32_t b) {
  return a == b ? a : 3 - a - b;
}

struct Creature : Actor {
  Creature(actor_config& config, actor mall, std::uint32_t colour)
    : Actor(config), mall(std::move(mall)), colour(colour) {}

  behavior make_behavior() override {
    send(mall, meet_atom::value, colour);
    return {
      // This one came first: it works out the colour of both.
      [this](meet_atom, std::uint32_t other, const actor& second) {
        auto changed = complement(colour, other);
        send(second, change_atom::value, changed);
        met(changed);
      },
      [this](change_atom, std::uint32_t changed) { met(changed); },
      [this](exit_atom) {
        send(mall, count);
        quit();
      },
    };
  }

  void met(std::uint32_t changed) {
    colour = changed;
    ++count;
    send(mall, meet_atom::value, colour);
  }

  actor mall;
  std::uint32_t colour;
  std::uint64_t count = 0;
};

struct Mall : Actor {
  Mall(actor_config& config, Run& run)
    : Actor(config), run(run), creatures(run["creatures"]), left(run["meetings"]) {}

  behavior make_behavior() override {
    for (std::uint64_t i = 0; i < creatures; ++i)
      spawn<Creature>(self(), static_cast<std::uint32_t>(i % 3));
    return {
      [this](meet_atom, std::uint32_t colour) {
        if (left == 0) {
          answer(exit_atom::value);
        } else if (!first) {
          first = sender();
        } else {
          send(first, meet_atom::value, colour, sender());
          first = actor{};
          --left;
        }
      },
      [this](std::uint64_t count) {
        sum += count;
        if (++told == creatures)
          run.finish(sum);
      },
    };
  }

  Run& run;
  const std::uint64_t creatures;
  std::uint64_t left;
  actor first;
  std::uint64_t told = 0;
  std::uint64_t sum = 0;
};

} // namespace

void savina::chameneos(Run& run) {
  run.operations = run["meetings"];
  run.begin();
  run.system.spawn<Mall>(run);
}
