// cache-calc-*: tasks have a cache calculate, sleep, and have it calculate again.
#include <string>
#include <unordered_map>

#include "../actors.hpp"

using calc_atom = atom_constant<atom("calc")>;
using calced_atom = atom_constant<atom("calced")>;
using wake_atom = atom_constant<atom("wake")>;
using done_atom = atom_constant<atom("done")>;
using total_atom = atom_constant<atom("total")>;

namespace {

struct Cache : Actor {
  Cache(actor_config& config, std::uint64_t keys) : Actor(config), keys(keys) {}

  behavior make_behavior() override {
    return {
      [this](calc_atom) {
        for (std::uint64_t i = 0; i < keys; ++i) {
          auto& value = values["key" + std::to_string(i)];
          value = std::to_string((value.empty() ? 0 : std::stoull(value)) + 1);
        }
        answer(calced_atom::value);
      },
      [this](total_atom) {
        std::uint64_t sum = 0;
        for (auto& entry : values)
          sum += std::stoull(entry.second);
        answer(total_atom::value, sum);
      },
    };
  }

  const std::uint64_t keys;
  std::unordered_map<std::string, std::string> values;
};

struct Task : Actor {
  Task(actor_config& config, actor master, actor cache, std::chrono::microseconds sleep)
    : Actor(config), master(std::move(master)), cache(std::move(cache)), sleep(sleep) {}

  behavior make_behavior() override {
    send(cache, calc_atom::value);
    return {
      [this](calced_atom) {
        if (!slept) {
          slept = true;
          delayed_send(self(), sleep, wake_atom::value);
          return;
        }
        send(master, done_atom::value);
        quit();
      },
      [this](wake_atom) { send(cache, calc_atom::value); },
    };
  }

  actor master;
  actor cache;
  const std::chrono::microseconds sleep;
  bool slept = false;
};

struct Master : Actor {
  Master(actor_config& config, Run& run) : Actor(config), run(run) {}

  behavior make_behavior() override {
    auto tasks = run["tasks"];
    std::chrono::microseconds sleep(run["sleep"]);
    cache = spawn<Cache>(run["keys"]);
    for (std::uint64_t i = 0; i < tasks; ++i)
      spawn<Task>(self(), cache, sleep);
    return {
      [this, tasks](done_atom) {
        if (++done == tasks)
          send(cache, total_atom::value);
      },
      [this](total_atom, std::uint64_t sum) { run.finish(sum); },
    };
  }

  Run& run;
  actor cache;
  std::uint64_t done = 0;
};

} // namespace

void headline::cache_calc(Run& run) {
  run.operations = 2 * run["tasks"];
  run.begin();
  run.system.spawn<Master>(run);
}
