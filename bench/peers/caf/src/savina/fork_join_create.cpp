// fork-join-create: makes many actors, each of which handles one message and ends.
#include "../actors.hpp"
#include "../work.hpp"

using work_atom = atom_constant<atom("work")>;

namespace {

struct Worker : Actor {
  Worker(actor_config& config, actor master) : Actor(config), master(std::move(master)) {}

  behavior make_behavior() override {
    return {[this](work_atom) {
      send(master, sine_work());
      quit();
    }};
  }

  actor master;
};

struct Master : Actor {
  Master(actor_config& config, Run& run) : Actor(config), run(run) {}

  behavior make_behavior() override {
    auto workers = run["workers_n"];
    for (std::uint64_t i = 0; i < workers; ++i)
      // With its first message under way, a worker need not be scheduled for its start as well.
      send(spawn<Worker, caf::lazy_init>(self()), work_atom::value);
    return {[this, workers](std::uint64_t counted) {
      sum += counted;
      if (++told == workers)
        run.finish(sum);
    }};
  }

  Run& run;
  std::uint64_t told = 0;
  std::uint64_t sum = 0;
};

} // namespace

void savina::fork_join_create(Run& run) {
  run.operations = run["workers_n"];
  run.begin();
  run.system.spawn<Master>(run);
}
