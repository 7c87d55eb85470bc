// logistic-map: series that each ask a computer for their next term, one term after the other.
#include <vector>

#include "../actors.hpp"
#include "../work.hpp"

using next_atom = atom_constant<atom("next")>;
using compute_atom = atom_constant<atom("compute")>;
using term_atom = atom_constant<atom("term")>;

namespace {

struct Computer : Actor {
  Computer(actor_config& config, double rate) : Actor(config), rate(rate) {}

  behavior make_behavior() override {
    return {[this](compute_atom, double x) { answer(rate * x * (1 - x)); }};
  }

  const double rate;
};

struct Series : Actor {
  Series(actor_config& config, actor computer, double x) : Actor(config), computer(std::move(computer)), x(x) {}

  behavior make_behavior() override {
    return {
      [this](next_atom) {
        if (++waiting == 1)
          compute();
      },
      [this](double result) {
        x = result;
        if (--waiting > 0)
          compute();
        else if (master)
          send(master, x);
      },
      [this](term_atom) {
        master = sender();
        if (waiting == 0)
          send(master, x);
      },
    };
  }

  void compute() { send(computer, compute_atom::value, x); }

  actor computer;
  double x;
  // The `next` under way and those behind it; they hold nothing but that they came. CAF's own `skip` would look at
  // each of them again for every answer.
  std::uint64_t waiting = 0;
  actor master; // has asked for the last term
};

struct Master : Actor {
  Master(actor_config& config, Run& run) : Actor(config), run(run) {}

  behavior make_behavior() override {
    std::vector<actor> all;
    for (std::uint64_t i = 0; i < run["series"]; ++i) {
      auto above = i * run["increment"];
      auto computer = spawn<Computer>(static_cast<double>(run["start"] + above) / 10000);
      all.push_back(spawn<Series>(computer, static_cast<double>(above) / 10000));
    }
    auto terms = run["terms"];
    for (std::uint64_t term = 0; term < terms; ++term)
      for (auto& series : all)
        send(series, next_atom::value);
    for (auto& series : all)
      send(series, term_atom::value);
    return {[this, count = all.size()](double term) {
      sum += bits(term);
      if (++told == count)
        run.finish(sum);
    }};
  }

  Run& run;
  std::uint64_t told = 0;
  std::uint64_t sum = 0;
};

} // namespace

void savina::logistic_map(Run& run) {
  run.operations = run["series"] * run["terms"];
  run.begin();
  run.system.spawn<Master>(run);
}
