// fork-join-throughput: many messages to each of some actors, in turn.
#include <vector>

#include "../actors.hpp"
#include "../work.hpp"

using work_atom = atom_constant<atom("work")>;

namespace {

struct Worker : Actor {
  Worker(actor_config& config, actor master, std::uint64_t messages)
    : Actor(config), master(std::move(master)), left(messages) {}

  behavior make_behavior() override {
    return {[this](work_atom, std::uint64_t) {
      counted += sine_work();
      if (--left == 0) {
        send(master, counted);
        quit();
      }
    }};
  }

  actor master;
  std::uint64_t left;
  std::uint64_t counted = 0;
};

struct Master : Actor {
  Master(actor_config& config, Run& run) : Actor(config), run(run) {}

  behavior make_behavior() override {
    auto messages = run["messages"];
    std::vector<actor> workers;
    for (std::uint64_t i = 0; i < run["actors"]; ++i)
      workers.push_back(spawn<Worker>(self(), messages));
    for (std::uint64_t number = 1; number <= messages; ++number)
      for (auto& worker : workers)
        send(worker, work_atom::value, number);
    return {[this, count = workers.size()](std::uint64_t counted) {
      sum += counted;
      if (++told == count)
        run.finish(sum);
    }};
  }

  Run& run;
  std::uint64_t told = 0;
  std::uint64_t sum = 0;
};

} // namespace

void savina::fork_join_throughput(Run& run) {
  run.operations = run["actors"] * run["messages"];
  run.begin();
  run.system.spawn<Master>(run);
}
