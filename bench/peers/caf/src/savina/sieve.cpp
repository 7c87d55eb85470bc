// sieve: numbers run through a chain of filters that each keep some primes.
#include <vector>

#include "../actors.hpp"

using end_atom = atom_constant<atom("end")>;

namespace {

struct Filter : Actor {
  Filter(actor_config& config, Run& run) : Actor(config), run(run), room(run["buffer"]) {}

  behavior make_behavior() override {
    primes.reserve(room);
    return {
      [this](std::uint32_t number) {
        for (auto prime : primes)
          if (number % prime == 0)
            return;
        if (primes.size() < room)
          primes.push_back(number);
        else
          pass(number);
      },
      [this](end_atom, std::uint64_t before) {
        auto found = before + primes.size();
        if (next)
          send(next, end_atom::value, found);
        else
          run.finish(found);
        quit();
      },
    };
  }

  void pass(std::uint32_t number) {
    if (!next)
      next = spawn<Filter>(run);
    send(next, number);
  }

  Run& run;
  const std::size_t room;
  std::vector<std::uint32_t> primes;
  actor next;
};

struct Producer : Actor {
  Producer(actor_config& config, Run& run) : Actor(config), run(run) {}

  behavior make_behavior() override {
    auto first = spawn<Filter>(run);
    auto limit = static_cast<std::uint32_t>(run["limit"]);
    for (std::uint32_t number = 3; number < limit; number += 2)
      send(first, number);
    send(first, end_atom::value, std::uint64_t{limit > 2}); // the 2, which no filter sees
    return {};
  }

  Run& run;
};

} // namespace

void savina::sieve(Run& run) {
  run.operations = run["limit"] / 2;
  run.begin();
  run.system.spawn<Producer>(run);
}
