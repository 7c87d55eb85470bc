// spawn: idle actors alive at once, and what memory they take.
#include <atomic>
#include <fstream>
#include <unistd.h>
#include <vector>

#include "../actors.hpp"

namespace {

std::uint64_t resident_bytes() {
  std::uint64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

struct Spawner : Actor {
  Spawner(actor_config& config, Run& run) : Actor(config), run(run), count(run["actors"]), me(self()) {}

  behavior make_behavior() override;

  /// Every actor calls this when it starts.
  void started() {
    if (++starts < count)
      return;
    run.bytes_each = static_cast<double>(resident_bytes() - resident_before) / static_cast<double>(count);
    run.finish(count);
  }

  Run& run;
  const std::uint64_t count;
  actor me; // nobody else holds this one, and it holds the others
  const std::uint64_t resident_before = resident_bytes();
  std::atomic<std::uint64_t> starts{0};
  std::vector<actor> actors;
};

struct Idle : Actor {
  Idle(actor_config& config, Spawner& spawner, std::uint64_t state)
    : Actor(config), spawner(spawner), state(state) {}

  behavior make_behavior() override {
    spawner.started();
    return {[this](std::uint64_t add) { state += add; }};
  }

  Spawner& spawner;
  std::uint64_t state;
};

behavior Spawner::make_behavior() {
  actors.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i)
    actors.push_back(spawn<Idle>(*this, i));
  return {[](std::uint64_t) {}};
}

} // namespace

void headline::spawn(Run& run) {
  run.operations = run["actors"];
  run.begin();
  run.system.spawn<Spawner>(run);
}
