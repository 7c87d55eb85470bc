// bounded-buffer: a manager takes items from producers, and hands them to consumers.
#include <cmath>
#include <deque>
#include <vector>

#include "../actors.hpp"
#include "../random.hpp"

using produce_atom = atom_constant<atom("produce")>;
using available_atom = atom_constant<atom("available")>;

namespace {

double work(double x, std::uint64_t cost) {
  R16 random(cost);
  for (std::uint64_t i = 0; i < cost * 100; ++i)
    x += std::log(1.0 / static_cast<double>(random.next() + 1) + 0.01);
  return x;
}

struct Producer : Actor {
  Producer(actor_config& config, actor manager, std::uint64_t first, std::uint64_t cost)
    : Actor(config), manager(std::move(manager)), next(first), cost(cost) {}

  behavior make_behavior() override {
    return {[this](produce_atom) {
      value = work(value, cost);
      send(manager, next++, value);
    }};
  }

  actor manager;
  std::uint64_t next;
  const std::uint64_t cost;
  double value = 0;
};

struct Consumer : Actor {
  Consumer(actor_config& config, actor manager, std::uint64_t cost)
    : Actor(config), manager(std::move(manager)), cost(cost) {}

  behavior make_behavior() override {
    return {[this](std::uint64_t number, double item) {
      value = work(value + item, cost);
      send(manager, available_atom::value, std::isfinite(item) ? number : 0);
    }};
  }

  actor manager;
  const std::uint64_t cost;
  double value = 0;
};

struct Item {
  std::uint64_t number;
  double value;
};

struct Manager : Actor {
  Manager(actor_config& config, Run& run)
    : Actor(config),
      run(run),
      items(run["items"]),
      all(run["producers"] * items),
      room(run["buffer"] > run["producers"] ? run["buffer"] - run["producers"] : 1) {}

  behavior make_behavior() override {
    for (std::uint64_t i = 0; i < run["consumers"]; ++i)
      consumers.push_back(spawn<Consumer>(self(), run["cost"]));
    for (std::uint64_t i = 0; i < run["producers"]; ++i) {
      producers.push_back(spawn<Producer>(self(), i * items, run["cost"]));
      send(producers.back(), produce_atom::value);
    }
    return {
      [this](std::uint64_t number, double value) {
        take({number, value});
        // A producer with nothing left is neither told nor kept: to wake it later would wake nobody.
        if (number % items == items - 1)
          return;
        if (queue.size() < room)
          answer(produce_atom::value);
        else
          idle_producers.push_back(producers[number / items]);
      },
      [this](available_atom, std::uint64_t number) {
        sum += number;
        if (++consumed == all)
          run.finish(sum);
        else
          serve(sender());
      },
    };
  }

  void take(Item item) {
    if (consumers.empty()) {
      queue.push_back(item);
      return;
    }
    send(consumers.back(), item.number, item.value);
    consumers.pop_back();
  }

  void serve(actor consumer) {
    if (queue.empty()) {
      consumers.push_back(std::move(consumer));
      return;
    }
    send(consumer, queue.front().number, queue.front().value);
    queue.pop_front();
    if (!idle_producers.empty()) {
      send(idle_producers.front(), produce_atom::value);
      idle_producers.pop_front();
    }
  }

  Run& run;
  const std::uint64_t items;
  const std::uint64_t all;
  const std::uint64_t room;
  std::vector<actor> producers;
  std::vector<actor> consumers; // those that wait
  std::deque<actor> idle_producers;
  std::deque<Item> queue;
  std::uint64_t consumed = 0;
  std::uint64_t sum = 0;
};

} // namespace

void savina::bounded_buffer(Run& run) {
  run.operations = run["producers"] * run["items"];
  run.begin();
  run.system.spawn<Manager>(run);
}
