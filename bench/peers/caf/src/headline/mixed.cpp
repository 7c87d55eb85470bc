// mixed: rings that are torn down and built again, beside actors that crunch numbers.
#include "../actors.hpp"

using factorise_atom = atom_constant<atom("factorise")>;
using sum_atom = atom_constant<atom("sum")>;
using done_atom = atom_constant<atom("done")>;

namespace {

std::uint64_t sum_of_factors(std::uint64_t n) {
  std::uint64_t sum = 0;
  for (std::uint64_t d = 2; d * d <= n; d += d == 2 ? 1 : 2)
    for (; n % d == 0; n /= d)
      sum += d;
  return n > 1 ? sum + n : sum;
}

struct Worker : Actor {
  Worker(actor_config& config, actor collector) : Actor(config), collector(std::move(collector)) {}

  behavior make_behavior() override {
    return {[this](factorise_atom, std::uint64_t number) {
      send(collector, sum_atom::value, sum_of_factors(number));
    }};
  }

  actor collector;
};

struct Link : Actor {
  Link(actor_config& config, actor next) : Actor(config), next(std::move(next)) {}

  behavior make_behavior() override {
    return {[this](std::uint64_t token) {
      send(next, token);
      if (token == 0)
        quit();
    }};
  }

  actor next;
};

struct Master : Actor {
  Master(actor_config& config, Run& run, actor collector)
    : Actor(config),
      collector(std::move(collector)),
      links(run["links"]),
      start(run["token"]),
      number(run["number"]),
      left(run["rebuilds"]) {}

  behavior make_behavior() override {
    worker = spawn<Worker>(collector);
    build();
    return {[this](std::uint64_t token) {
      if (token > 0) {
        send(next, token - 1);
      } else if (left > 0) {
        build();
      } else {
        next = actor{}; // the ring holds its master
        send(collector, done_atom::value);
        quit();
      }
    }};
  }

  void build() {
    --left;
    next = self();
    for (std::uint64_t i = 0; i < links; ++i)
      next = spawn<Link>(next);
    send(next, start);
    send(worker, factorise_atom::value, number);
  }

  actor collector;
  const std::uint64_t links;
  const std::uint64_t start;
  const std::uint64_t number;
  std::uint64_t left;
  actor worker;
  actor next;
};

struct Collector : Actor {
  Collector(actor_config& config, Run& run)
    : Actor(config), run(run), masters(run["rings"]), sums(masters * run["rebuilds"]) {}

  behavior make_behavior() override {
    for (std::uint64_t i = 0; i < run["rings"]; ++i)
      spawn<Master>(run, self());
    return {
      [this](sum_atom, std::uint64_t sum) {
        total += sum;
        --sums;
        check();
      },
      [this](done_atom) {
        --masters;
        check();
      },
    };
  }

  void check() {
    if (masters == 0 && sums == 0)
      run.finish(total);
  }

  Run& run;
  std::uint64_t masters; // that are not done
  std::uint64_t sums;    // that are to come
  std::uint64_t total = 0;
};

} // namespace

void headline::mixed(Run& run) {
  run.operations = run["rings"] * run["rebuilds"] * (run["token"] + 1) * (run["links"] + 1);
  run.begin();
  run.system.spawn<Collector>(run);
}
