// ping-pong: ping sends, pong answers, one after the other.
#include "../actors.hpp"

using ping_atom = atom_constant<atom("ping")>;
using pong_atom = atom_constant<atom("pong")>;

namespace {

struct Pong : Actor {
  explicit Pong(actor_config& config) : Actor(config) {}

  behavior make_behavior() override {
    return {[this](ping_atom) { answer(pong_atom::value); }};
  }
};

struct Ping : Actor {
  Ping(actor_config& config, Run& run, actor pong)
    : Actor(config), run(run), pong(std::move(pong)), messages(run["messages"]) {}

  behavior make_behavior() override {
    send(pong, ping_atom::value);
    return {[this](pong_atom) {
      if (++answers == messages)
        run.finish(answers);
      else
        send(pong, ping_atom::value);
    }};
  }

  Run& run;
  actor pong;
  const std::uint64_t messages;
  std::uint64_t answers = 0;
};

} // namespace

void savina::ping_pong(Run& run) {
  run.operations = run["messages"];
  run.begin();
  run.system.spawn<Ping>(run, run.system.spawn<Pong>());
}
