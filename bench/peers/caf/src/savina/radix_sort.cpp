// radix-sort: values go through a chain of actors, one a bit; each holds back those whose bit is set.
#include <vector>

#include "../actors.hpp"
#include "../random.hpp"

using end_atom = atom_constant<atom("end")>;

namespace {

struct Sink : Actor {
  Sink(actor_config& config, Run& run) : Actor(config), run(run) {}

  behavior make_behavior() override {
    return {
      [this](std::uint64_t value) { sum += ++place * value; },
      [this](end_atom) { run.finish(sum); },
    };
  }

  Run& run;
  std::uint64_t place = 0;
  std::uint64_t sum = 0;
};

struct Bit : Actor {
  Bit(actor_config& config, actor next, int bit) : Actor(config), next(std::move(next)), mask(std::uint64_t{1} << bit) {}

  behavior make_behavior() override {
    return {
      [this](std::uint64_t value) {
        if (value & mask)
          kept.push_back(value);
        else
          send(next, value);
      },
      [this](end_atom) {
        for (auto value : kept)
          send(next, value);
        send(next, end_atom::value);
        quit();
      },
    };
  }

  actor next;
  const std::uint64_t mask;
  std::vector<std::uint64_t> kept;
};

struct Source : Actor {
  Source(actor_config& config, Run& run, actor next) : Actor(config), run(run), next(std::move(next)) {}

  behavior make_behavior() override {
    R64 random(run["seed"]);
    auto values = run["values"];
    for (std::uint64_t i = 0; i < values; ++i)
      send(next, random.next());
    send(next, end_atom::value);
    return {};
  }

  Run& run;
  actor next;
};

} // namespace

void savina::radix_sort(Run& run) {
  run.operations = run["values"];
  run.begin();
  actor next = run.system.spawn<Sink>(run);
  for (int bit = 59; bit >= 0; --bit)
    next = run.system.spawn<Bit>(next, bit);
  run.system.spawn<Source>(run, next);
}
