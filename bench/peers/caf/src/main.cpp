// The command line: about, list, run.
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "programs.hpp"

namespace {

/// Which of CAF's schedulers runs a program: the one that was faster with two workers.
enum class Scheduler {
  stealing,
  // One queue for all. A thief walks the whole queue of its victim, which takes longer and longer where thousands of
  // actors are ready at once; and newest-first order makes actors that only ask again run before those that work.
  sharing,
  // Stealing, but sharing where there is one worker: newest-first order would never let the barber run.
  stealing_if_many,
};

struct Program {
  const char* workload;
  void (*start)(Run&);
  const char* how;
  Scheduler scheduler = Scheduler::stealing;
};

constexpr int share = 1; // of the work: on a quiet machine, each of these takes less than a minute

constexpr Program programs[] = {
  {"banking", savina::banking, "an actor an account, transfers that wait in a deque of the account"},
  {"big", savina::big, "plain sends, a copy of all handles in each actor", Scheduler::sharing},
  {"bounded-buffer", savina::bounded_buffer, "a manager actor with deques"},
  {"chameneos", savina::chameneos, "plain sends, creatures named by their handles", Scheduler::sharing},
  {"cigarette-smokers", savina::cigarette_smokers, "plain sends"},
  {"concurrent-dictionary", savina::concurrent_dictionary, "std::unordered_map in an actor", Scheduler::sharing},
  {"concurrent-sorted-list", savina::concurrent_sorted_list, "std::forward_list in an actor"},
  {"count", savina::count, "plain sends"},
  {"dining-philosophers", savina::dining_philosophers, "an arbiter actor", Scheduler::sharing},
  {"fibonacci", savina::fibonacci, "an actor a call"},
  {"filter-bank", savina::filter_bank, "an actor a stage"},
  {"fork-join-create", savina::fork_join_create, "lazily started actors, one message each", Scheduler::sharing},
  {"fork-join-throughput", savina::fork_join_throughput, "plain sends"},
  {"logistic-map", savina::logistic_map, "a counter of the terms that wait"},
  {"ping-pong", savina::ping_pong, "plain sends"},
  {"quicksort", savina::quicksort, "an actor a part, vectors moved in messages"},
  {"radix-sort", savina::radix_sort, "an actor a bit"},
  {"recursive-matrix", savina::recursive_matrix, "factors shared read-only, blocks moved in messages"},
  {"sieve", savina::sieve, "a chain of actors"},
  {"sleeping-barber", savina::sleeping_barber, "an actor a customer", Scheduler::stealing_if_many},
  {"thread-ring", savina::thread_ring, "an actor a link"},
  {"trapezoid", savina::trapezoid, "an actor a part"},
  {"counter-1", headline::counter, "threads that call anon_send"},
  {"counter-2", headline::counter, "threads that call anon_send"},
  {"counter-4", headline::counter, "threads that call anon_send"},
  {"counter-8", headline::counter, "threads that call anon_send"},
  {"mailbox-n1", headline::mailbox_n1, "threads that call anon_send"},
  {"mixed", headline::mixed, "an actor a link"},
  {"ring-nfold-100", headline::ring_nfold, "an actor a node, not bound to threads"},
  {"ring-nfold-1000", headline::ring_nfold, "an actor a node, not bound to threads"},
  {"ring-nfold-10000", headline::ring_nfold, "an actor a node, not bound to threads"},
  {"pingpong-grouped-100", headline::pingpong_grouped, "plain sends, not bound to threads"},
  {"pingpong-grouped-1000", headline::pingpong_grouped, "plain sends, not bound to threads"},
  {"pingpong-grouped-10000", headline::pingpong_grouped, "plain sends, not bound to threads"},
  {"pingpong-bulk-100", headline::pingpong_bulk, "plain sends"},
  {"pingpong-bulk-1000", headline::pingpong_bulk, "plain sends"},
  {"pingpong-bulk-10000", headline::pingpong_bulk, "plain sends"},
  {"dining-scale", headline::dining_scale, "an actor a fork, neighbours alternate in which they take first"},
  {"skynet", headline::skynet, "an actor a node"},
  {"skynet-stop", headline::skynet_stop, "an actor a node, await_all_actors_done at the end"},
  {"cache-calc-8", headline::cache_calc, "an actor a task, delayed_send to sleep"},
  {"cache-calc-64", headline::cache_calc, "an actor a task, delayed_send to sleep"},
  {"reasonable-banking", headline::reasonable_banking, "the actor protocol, a manager actor a transfer"},
  {"busy-banking", headline::busy_banking, "the actor protocol, the work in the account that is debited"},
  {"spawn", headline::spawn, "spawned by an actor, started eagerly", Scheduler::sharing},
  {"ask-latency", headline::ask_latency, "request(...).then"},
  {"fan-out", headline::fan_out, "one copy-on-write message for all", Scheduler::sharing},
};

/// Reads `name=value`. `scale` may be a fraction, and nothing here uses it.
void parse(const char* text, Run::Parameters& into) {
  const char* equals = std::strchr(text, '=');
  if (!equals)
    throw std::runtime_error(std::string("not name=value: ") + text);
  std::string name(text, equals);
  if (name == "scale")
    return;
  char* end = nullptr;
  into[name] = std::strtoull(equals + 1, &end, 10);
  if (end == equals + 1 || *end != '\0')
    throw std::runtime_error(std::string("not a number: ") + text);
}

caf::atom_value policy(Scheduler scheduler, std::uint64_t workers) {
  bool share = scheduler == Scheduler::sharing || (scheduler == Scheduler::stealing_if_many && workers == 1);
  return share ? caf::atom("sharing") : caf::atom("stealing");
}

void run(const Program& program, const Run::Parameters& parameters) {
  auto found = parameters.find("workers");
  if (found == parameters.end() || found->second == 0)
    throw std::runtime_error("parameter workers is missing");
  auto workers = found->second;
  caf::actor_system_config config;
  config.set("scheduler.max-threads", workers);
  config.set("scheduler.policy", policy(program.scheduler, workers));
  caf::actor_system system(config);
  Run run(system, parameters);
  program.start(run);
  auto result = run.result();
  std::cout << "{\"elapsed_ns\":" << run.elapsed_ns() << ",\"operations\":" << run.operations
            << ",\"result\":" << result;
  if (run.bytes_each)
    std::cout << ",\"bytes_each\":" << *run.bytes_each;
  std::cout << '}' << std::endl;
  // Some programs leave actors that hold each other alive on purpose; the end of the process is their tear-down.
  std::_Exit(EXIT_SUCCESS);
}

} // namespace

int main(int argc, char** argv) {
  std::string command = argc > 1 ? argv[1] : "";
  try {
    if (command == "about") {
      std::cout << "CAF " << CAF_MAJOR_VERSION << '.' << CAF_MINOR_VERSION << '.' << CAF_PATCH_VERSION
                << ", GCC " __VERSION__ ", " FLAGS
                << ", event-based actors, work-stealing (sharing where faster), max-threads = workers\n";
    } else if (command == "list") {
      for (auto& p : programs)
        std::cout << p.workload << "\tcaf\t" << share << '\t' << p.how << '\n';
    } else if (command == "run" && argc >= 4) {
      Run::Parameters parameters;
      for (int i = 4; i < argc; ++i)
        parse(argv[i], parameters);
      for (auto& p : programs)
        if (std::string(argv[2]) == p.workload && std::string(argv[3]) == "caf")
          run(p, parameters);
      throw std::runtime_error(std::string("no such program: ") + argv[2] + " " + argv[3]);
    } else {
      throw std::runtime_error("usage: caf about | list | run WORKLOAD caf name=value ...");
    }
  } catch (const std::exception& e) {
    std::cerr << "caf: " << e.what() << '\n';
    return EXIT_FAILURE;
  }
}
