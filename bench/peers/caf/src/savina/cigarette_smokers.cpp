// cigarette-smokers: an arbiter lets a smoker drawn at random smoke, round after round.
#include <vector>

#include "../actors.hpp"
#include "../random.hpp"
#include "../work.hpp"

using smoke_atom = atom_constant<atom("smoke")>;
using started_atom = atom_constant<atom("started")>;
using end_atom = atom_constant<atom("end")>;

namespace {

struct Smoker : Actor {
  explicit Smoker(actor_config& config) : Actor(config) {}

  behavior make_behavior() override {
    return {
      [this](smoke_atom, std::uint64_t time) {
        answer(started_atom::value, time);
        spin(time);
      },
      [this](end_atom) { quit(); },
    };
  }
};

struct Arbiter : Actor {
  Arbiter(actor_config& config, Run& run) : Actor(config), run(run), left(run["rounds"]), random(74755) {}

  behavior make_behavior() override {
    for (std::uint64_t i = 0; i < run["smokers"]; ++i)
      smokers.push_back(spawn<Smoker>());
    round();
    return {[this](started_atom, std::uint64_t time) {
      sum += time;
      round();
    }};
  }

  void round() {
    if (left-- > 0) {
      auto smoker = random.below(smokers.size());
      send(smokers[smoker], smoke_atom::value, random.below(1000) + 10);
      return;
    }
    for (auto& smoker : smokers)
      send(smoker, end_atom::value);
    run.finish(sum);
  }

  Run& run;
  std::uint64_t left;
  R16 random;
  std::vector<actor> smokers;
  std::uint64_t sum = 0;
};

} // namespace

void savina::cigarette_smokers(Run& run) {
  run.operations = run["rounds"];
  run.begin();
  run.system.spawn<Arbiter>(run);
}
