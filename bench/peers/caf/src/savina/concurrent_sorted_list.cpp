// concurrent-sorted-list: workers add to, and look into, an ascending linked list that an actor holds.
#include <forward_list>

#include "../actors.hpp"
#include "../random.hpp"

using size_atom = atom_constant<atom("size")>;
using add_atom = atom_constant<atom("add")>;
using contains_atom = atom_constant<atom("contains")>;
using checksum_atom = atom_constant<atom("checksum")>;
using done_atom = atom_constant<atom("done")>;

namespace {

struct SortedList : Actor {
  explicit SortedList(actor_config& config) : Actor(config) {}

  behavior make_behavior() override {
    return {
      [this](contains_atom, std::uint64_t value) {
        auto it = values.begin();
        while (it != values.end() && *it < value)
          ++it;
        answer(std::uint64_t{it != values.end() && *it == value});
      },
      [this](add_atom, std::uint64_t value) {
        auto before = values.before_begin();
        for (auto it = values.begin(); it != values.end() && *it < value; ++it)
          before = it;
        values.insert_after(before, value);
        answer(++size);
      },
      [this](size_atom) { answer(size); },
      [this](checksum_atom) {
        std::uint64_t sum = 0;
        std::uint64_t place = 0;
        for (auto value : values)
          sum += ++place * value;
        answer(sum);
      },
    };
  }

  std::forward_list<std::uint64_t> values;
  std::uint64_t size = 0;
};

struct Worker : Actor {
  Worker(actor_config& config, Run& run, actor master, actor list, std::uint64_t number)
    : Actor(config),
      master(std::move(master)),
      list(std::move(list)),
      random(number + 1),
      left(run["messages"]),
      writes(run["writes"]),
      sizes(run["sizes"]) {}

  behavior make_behavior() override {
    next();
    return {[this](std::uint64_t) { next(); }};
  }

  void next() {
    if (left-- == 0) {
      send(master, done_atom::value);
      quit();
      return;
    }
    auto kind = random.below(100);
    if (kind < sizes)
      send(list, size_atom::value);
    else if (kind < sizes + writes)
      send(list, add_atom::value, random.next());
    else
      send(list, contains_atom::value, random.next());
  }

  actor master;
  actor list;
  R16 random;
  std::uint64_t left;
  const std::uint64_t writes;
  const std::uint64_t sizes;
};

struct Master : Actor {
  Master(actor_config& config, Run& run) : Actor(config), run(run) {}

  behavior make_behavior() override {
    auto workers = run["workers_n"];
    list = spawn<SortedList>();
    for (std::uint64_t i = 0; i < workers; ++i)
      spawn<Worker>(run, self(), list, i);
    return {
      [this, workers](done_atom) {
        if (++done == workers)
          send(list, checksum_atom::value);
      },
      [this](std::uint64_t sum) { run.finish(sum); },
    };
  }

  Run& run;
  actor list;
  std::uint64_t done = 0;
};

} // namespace

void savina::concurrent_sorted_list(Run& run) {
  run.operations = run["workers_n"] * run["messages"];
  run.begin();
  run.system.spawn<Master>(run);
}
