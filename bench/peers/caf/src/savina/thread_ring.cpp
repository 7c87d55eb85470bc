// thread-ring: one token goes round a ring of actors.
#include "../actors.hpp"

using next_atom = atom_constant<atom("next")>;

namespace {

struct Link : Actor {
  Link(actor_config& config, Run& run, actor next) : Actor(config), run(run), next(std::move(next)) {}

  behavior make_behavior() override {
    auto hops = run["hops"];
    return {
      [this, hops](std::uint64_t made) {
        if (made == hops)
          run.finish(made);
        else
          send(next, made + 1);
      },
      [this](next_atom, const actor& first) { next = first; },
    };
  }

  Run& run;
  actor next;
};

} // namespace

void savina::thread_ring(Run& run) {
  run.operations = run["hops"];
  run.begin();
  auto last = run.system.spawn<Link>(run, actor{});
  auto first = last;
  for (std::uint64_t i = 1; i < run["actors"]; ++i)
    first = run.system.spawn<Link>(run, first);
  // The two messages to the last link keep their order, so that it knows the first before the token comes.
  caf::anon_send(last, next_atom::value, first);
  caf::anon_send(last, std::uint64_t{0});
}
