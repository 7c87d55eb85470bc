// count: a producer sends increments to a counter, then asks for the count.
#include "../actors.hpp"

using increment_atom = atom_constant<atom("increment")>;
using ask_atom = atom_constant<atom("ask")>;

namespace {

struct Counter : Actor {
  explicit Counter(actor_config& config) : Actor(config) {}

  behavior make_behavior() override {
    return {
      [this](increment_atom) { ++count; },
      [this](ask_atom) { answer(count); },
    };
  }

  std::uint64_t count = 0;
};

struct Producer : Actor {
  Producer(actor_config& config, Run& run, actor counter) : Actor(config), run(run), counter(std::move(counter)) {}

  behavior make_behavior() override {
    auto messages = run["messages"];
    for (std::uint64_t i = 0; i < messages; ++i)
      send(counter, increment_atom::value);
    send(counter, ask_atom::value);
    return {[this](std::uint64_t count) { run.finish(count); }};
  }

  Run& run;
  actor counter;
};

} // namespace

void savina::count(Run& run) {
  run.operations = run["messages"];
  run.begin();
  run.system.spawn<Producer>(run, run.system.spawn<Counter>());
}
