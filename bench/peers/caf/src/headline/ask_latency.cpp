// ask-latency: requests one after the other, from one actor to another.
#include "../actors.hpp"

using ask_atom = atom_constant<atom("ask")>;

namespace {

struct Answerer : Actor {
  explicit Answerer(actor_config& config) : Actor(config) {}

  behavior make_behavior() override {
    return {[](ask_atom, std::uint64_t n) { return n + 1; }};
  }
};

struct Asker : Actor {
  Asker(actor_config& config, Run& run, actor answerer)
    : Actor(config), run(run), answerer(std::move(answerer)), asks(run["asks"]) {}

  behavior make_behavior() override {
    next();
    return {[](ask_atom) {}}; // a behaviour of some kind, without which the actor would end
  }

  void next() {
    request(answerer, caf::infinite, ask_atom::value, answers).then([this](std::uint64_t n) {
      answers = n;
      if (answers == asks)
        run.finish(answers);
      else
        next();
    });
  }

  Run& run;
  actor answerer;
  const std::uint64_t asks;
  std::uint64_t answers = 0;
};

} // namespace

void headline::ask_latency(Run& run) {
  run.operations = run["asks"];
  run.begin();
  run.system.spawn<Asker>(run, run.system.spawn<Answerer>());
}
