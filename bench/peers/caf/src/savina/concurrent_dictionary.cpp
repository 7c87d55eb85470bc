// concurrent-dictionary: workers read and write a hash map that an actor holds.
#include <unordered_map>

#include "../actors.hpp"
#include "../random.hpp"

using read_atom = atom_constant<atom("read")>;
using write_atom = atom_constant<atom("write")>;
using total_atom = atom_constant<atom("total")>;

namespace {

using Map = std::unordered_map<std::uint64_t, std::uint64_t>;

struct Dictionary : Actor {
  Dictionary(actor_config& config, Map map) : Actor(config), map(std::move(map)) {}

  behavior make_behavior() override {
    return {
      [this](read_atom, std::uint64_t key) { answer(map[key]); },
      [this](write_atom, std::uint64_t key, std::uint64_t value) {
        map[key] = value;
        answer(value);
      },
    };
  }

  Map map;
};

struct Worker : Actor {
  Worker(actor_config& config, Run& run, actor master, actor dictionary, std::uint64_t number)
    : Actor(config),
      master(std::move(master)),
      dictionary(std::move(dictionary)),
      random(number + 1),
      left(run["messages"]),
      writes(run["writes"]) {}

  behavior make_behavior() override {
    next();
    return {[this](std::uint64_t value) {
      sum += value;
      next();
    }};
  }

  void next() {
    if (left-- == 0) {
      send(master, total_atom::value, sum);
      quit();
      return;
    }
    bool write = random.below(100) < writes;
    auto key = random.next();
    if (write)
      send(dictionary, write_atom::value, key, key);
    else
      send(dictionary, read_atom::value, key);
  }

  actor master;
  actor dictionary;
  R16 random;
  std::uint64_t left;
  const std::uint64_t writes;
  std::uint64_t sum = 0;
};

struct Master : Actor {
  Master(actor_config& config, Run& run, Map map) : Actor(config), run(run), map(std::move(map)) {}

  behavior make_behavior() override {
    auto workers = run["workers_n"];
    auto dictionary = spawn<Dictionary>(std::move(map));
    for (std::uint64_t i = 0; i < workers; ++i)
      spawn<Worker>(run, self(), dictionary, i);
    return {[this, workers](total_atom, std::uint64_t total) {
      sum += total;
      if (++told == workers)
        run.finish(sum);
    }};
  }

  Run& run;
  Map map;
  std::uint64_t told = 0;
  std::uint64_t sum = 0;
};

} // namespace

void savina::concurrent_dictionary(Run& run) {
  run.operations = run["workers_n"] * run["messages"];
  Map map;
  map.reserve(65536);
  for (std::uint64_t i = 0; i < 65536; ++i)
    map[i] = i;
  run.begin();
  run.system.spawn<Master>(run, std::move(map));
}
