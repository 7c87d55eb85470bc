// fan-out: one message with a large payload to many receivers, round after round.
#include <vector>

#include "../actors.hpp"

using got_atom = atom_constant<atom("got")>;

namespace {

using Payload = std::vector<std::uint8_t>;

struct Receiver : Actor {
  explicit Receiver(actor_config& config) : Actor(config) {}

  behavior make_behavior() override {
    return {[this](const Payload& payload) {
      ends += payload.front() + payload.back();
      total += payload.size();
      answer(got_atom::value, std::uint64_t{payload.size()});
    }};
  }

  std::uint64_t ends = 0;
  std::uint64_t total = 0;
};

struct Sender : Actor {
  Sender(actor_config& config, Run& run) : Actor(config), run(run), rounds(run["rounds"]) {}

  behavior make_behavior() override {
    for (std::uint64_t i = 0; i < run["receivers"]; ++i)
      receivers.push_back(spawn<Receiver>());
    round();
    return {[this](got_atom, std::uint64_t size) {
      sum += size;
      if (++got < receivers.size())
        return;
      got = 0;
      if (rounds > 0)
        round();
      else
        run.finish(sum);
    }};
  }

  void round() {
    --rounds;
    Payload payload(run["size"]);
    for (std::size_t i = 0; i < payload.size(); ++i)
      payload[i] = static_cast<std::uint8_t>(i % 251);
    // All receivers share the content of a message: it is copied only on a write.
    auto message = caf::make_message(std::move(payload));
    for (auto& receiver : receivers)
      send(receiver, message);
  }

  Run& run;
  std::uint64_t rounds;
  std::vector<actor> receivers;
  std::uint64_t got = 0;
  std::uint64_t sum = 0;
};

} // namespace

void headline::fan_out(Run& run) {
  run.operations = run["receivers"] * run["rounds"];
  run.begin();
  run.system.spawn<Sender>(run);
}
