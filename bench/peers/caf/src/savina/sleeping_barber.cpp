// sleeping-barber: customers who find the waiting room full come again.
#include <deque>

#include "../actors.hpp"
#include "../random.hpp"
#include "../work.hpp"

using enter_atom = atom_constant<atom("enter")>;
using full_atom = atom_constant<atom("full")>;
using returned_atom = atom_constant<atom("returned")>;
using next_atom = atom_constant<atom("next")>;
using start_atom = atom_constant<atom("start")>;
using done_atom = atom_constant<atom("done")>;

namespace {

struct Barber : Actor {
  Barber(actor_config& config, std::uint64_t haircut) : Actor(config), haircut(haircut), random(2) {}

  behavior make_behavior() override {
    return {[this](enter_atom, const actor& customer) {
      send(customer, start_atom::value);
      spin(random.below(haircut) + 10);
      send(customer, done_atom::value);
      answer(next_atom::value);
    }};
  }

  const std::uint64_t haircut;
  R16 random;
};

struct Room : Actor {
  Room(actor_config& config, actor barber, std::uint64_t places)
    : Actor(config), barber(std::move(barber)), places(places) {}

  behavior make_behavior() override {
    return {
      [this](enter_atom, const actor& customer) {
        if (waiting.size() == places) {
          send(customer, full_atom::value);
          return;
        }
        waiting.push_back(customer);
        if (asleep)
          serve();
      },
      [this](next_atom) {
        if (waiting.empty())
          asleep = true;
        else
          serve();
      },
    };
  }

  void serve() {
    asleep = false;
    send(barber, enter_atom::value, waiting.front());
    waiting.pop_front();
  }

  actor barber;
  const std::uint64_t places;
  std::deque<actor> waiting;
  bool asleep = true;
};

struct Customer : Actor {
  Customer(actor_config& config, actor factory) : Actor(config), factory(std::move(factory)) {}

  behavior make_behavior() override {
    return {
      [this](full_atom) { send(factory, returned_atom::value); },
      [](start_atom) {},
      [this](done_atom) {
        send(factory, done_atom::value);
        quit();
      },
    };
  }

  actor factory;
};

struct Factory : Actor {
  Factory(actor_config& config, Run& run) : Actor(config), run(run), haircuts(run["haircuts"]) {}

  behavior make_behavior() override {
    room = spawn<Room>(spawn<Barber>(run["haircut"]), run["places"]);
    R16 random(1);
    auto production = run["production"];
    for (std::uint64_t i = 0; i < haircuts; ++i) {
      send(room, enter_atom::value, actor{spawn<Customer, caf::lazy_init>(self())});
      spin(random.below(production) + 10);
    }
    return {
      [this](returned_atom) { send(room, enter_atom::value, sender()); },
      [this](done_atom) {
        if (++done == haircuts)
          run.finish(done);
      },
    };
  }

  Run& run;
  const std::uint64_t haircuts;
  actor room;
  std::uint64_t done = 0;
};

} // namespace

void savina::sleeping_barber(Run& run) {
  run.operations = run["haircuts"];
  run.begin();
  run.system.spawn<Factory>(run);
}
