// trapezoid: workers add up the parts of an integral.
#include <cmath>

#include "../actors.hpp"

using work_atom = atom_constant<atom("work")>;

namespace {

double f(double x) {
  return 1 / (x + 1) * std::sqrt(1 + std::exp(std::sqrt(2 * x))) * std::sin(x * x * x - 1);
}

struct Worker : Actor {
  explicit Worker(actor_config& config) : Actor(config) {}

  behavior make_behavior() override {
    return {[this](work_atom, double left, double width, std::uint64_t pieces) {
      double area = 0;
      for (std::uint64_t i = 0; i < pieces; ++i) {
        auto l = left + static_cast<double>(i) * width;
        area += (f(l) + f(l + width)) / 2 * width;
      }
      answer(area);
      quit();
    }};
  }
};

struct Master : Actor {
  Master(actor_config& config, Run& run) : Actor(config), run(run) {}

  behavior make_behavior() override {
    auto workers = run["workers_n"];
    auto pieces = run["pieces"];
    auto left = static_cast<double>(run["left"]);
    auto width = (static_cast<double>(run["right"]) - left) / static_cast<double>(pieces);
    for (std::uint64_t i = 0; i < workers; ++i) {
      auto first = pieces * i / workers;
      auto end = pieces * (i + 1) / workers;
      send(spawn<Worker>(), work_atom::value, left + static_cast<double>(first) * width, width, end - first);
    }
    return {[this, workers](double part) {
      area += part;
      if (++told == workers)
        run.finish(static_cast<std::uint64_t>(std::llround(area * 1000000)));
    }};
  }

  Run& run;
  std::uint64_t told = 0;
  double area = 0;
};

} // namespace

void savina::trapezoid(Run& run) {
  run.operations = run["pieces"];
  run.begin();
  run.system.spawn<Master>(run);
}
