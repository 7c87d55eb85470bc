// counter-*, mailbox-n1: plain threads post to one actor as fast as they can.
#include <thread>
#include <vector>

#include "../actors.hpp"

using add_atom = atom_constant<atom("add")>;
using ask_atom = atom_constant<atom("ask")>;

namespace {

struct Counter : Actor {
  Counter(actor_config& config, Run& run) : Actor(config), run(run) {}

  behavior make_behavior() override {
    return {
      [this](add_atom, std::uint64_t n) { sum += n; },
      [this](ask_atom) { run.finish(sum); },
    };
  }

  Run& run;
  std::uint64_t sum = 0;
};

/// Ends by itself when it has seen all.
struct Receiver : Actor {
  Receiver(actor_config& config, Run& run) : Actor(config), run(run) {}

  behavior make_behavior() override {
    return {[this, all = run.operations](add_atom, std::uint64_t n) {
      if ((seen += n) == all)
        run.finish(seen);
    }};
  }

  Run& run;
  std::uint64_t seen = 0;
};

/// Has `threads` threads post `messages` in all, and waits for the threads.
void post(const actor& to, std::uint64_t threads, std::uint64_t messages) {
  std::vector<std::thread> running;
  for (std::uint64_t i = 0; i < threads; ++i) {
    auto share = messages * (i + 1) / threads - messages * i / threads;
    running.emplace_back([&to, share] {
      for (std::uint64_t k = 0; k < share; ++k)
        caf::anon_send(to, add_atom::value, std::uint64_t{1});
    });
  }
  for (auto& thread : running)
    thread.join();
}

} // namespace

void headline::counter(Run& run) {
  run.operations = run["messages"];
  run.begin();
  auto counter = run.system.spawn<Counter>(run);
  post(counter, run["threads"], run["messages"]);
  caf::anon_send(counter, ask_atom::value);
}

void headline::mailbox_n1(Run& run) {
  run.operations = run["senders"] * run["messages"];
  run.begin();
  post(run.system.spawn<Receiver>(run), run["senders"], run.operations);
}
