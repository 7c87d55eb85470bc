// fibonacci: an actor a call.
#include "../actors.hpp"

namespace {

struct Call : Actor {
  Call(actor_config& config, actor parent, std::uint64_t n) : Actor(config), parent(std::move(parent)), n(n) {}

  behavior make_behavior() override {
    if (n <= 2) {
      send(parent, std::uint64_t{1});
      return {}; // an actor without a behaviour ends
    }
    spawn<Call>(self(), n - 1);
    spawn<Call>(self(), n - 2);
    return {[this](std::uint64_t answer) {
      sum += answer;
      if (++answers == 2) {
        send(parent, sum);
        quit();
      }
    }};
  }

  actor parent;
  const std::uint64_t n;
  int answers = 0;
  std::uint64_t sum = 0;
};

struct Caller : Actor {
  Caller(actor_config& config, Run& run) : Actor(config), run(run) {}

  behavior make_behavior() override {
    spawn<Call>(self(), run["n"]);
    return {[this](std::uint64_t answer) { run.finish(answer); }};
  }

  Run& run;
};

/// The actors that it takes: 2·fib(n) − 1.
std::uint64_t calls(std::uint64_t n) {
  std::uint64_t now = 1, before = 1;
  for (std::uint64_t i = 2; i < n; ++i) {
    auto next = now + before;
    before = now;
    now = next;
  }
  return 2 * now - 1;
}

} // namespace

void savina::fibonacci(Run& run) {
  run.operations = calls(run["n"]);
  run.begin();
  run.system.spawn<Caller>(run);
}
