// filter-bank: a signal runs through a bank of filters for each channel, and is put together again.
#include <algorithm>
#include <deque>
#include <numeric>
#include <vector>

#include "../actors.hpp"
#include "../work.hpp"

using boot_atom = atom_constant<atom("boot")>;
using end_atom = atom_constant<atom("end")>;

namespace {

using Signal = std::vector<double>;

/// A part of the chain: values go on to `next`, and so does the end.
struct Stage : Actor {
  Stage(actor_config& config, actor next) : Actor(config), next(std::move(next)) {}

  void end() {
    send(next, end_atom::value);
    quit();
  }

  actor next;
};

struct Sink : Actor {
  Sink(actor_config& config, Run& run) : Actor(config), run(run) {}

  behavior make_behavior() override {
    return {
      [this](double value) { sum += bits(value); },
      [this](end_atom) { run.finish(sum); },
    };
  }

  Run& run;
  std::uint64_t sum = 0;
};

struct Combine : Stage {
  using Stage::Stage;

  behavior make_behavior() override {
    return {
      [this](const Signal& row) { send(next, std::accumulate(row.begin(), row.end(), 0.0)); },
      [this](end_atom) { end(); },
    };
  }
};

struct Integrator : Stage {
  Integrator(actor_config& config, actor next, std::uint64_t channels)
    : Stage(config, std::move(next)), queues(channels) {}

  behavior make_behavior() override {
    return {
      [this](std::uint64_t channel, double value) {
        queues[channel].push_back(value);
        if (queues[channel].size() == 1 && ++filled == queues.size())
          gather();
      },
      [this](end_atom) {
        if (++ended == queues.size())
          end();
      },
    };
  }

  /// Sends on the oldest value of every channel.
  void gather() {
    Signal row;
    row.reserve(queues.size());
    for (auto& queue : queues) {
      row.push_back(queue.front());
      queue.pop_front();
      if (queue.empty())
        --filled;
    }
    send(next, std::move(row));
  }

  std::vector<std::deque<double>> queues;
  std::size_t filled = 0; // queues that hold a value
  std::size_t ended = 0;
};

struct Tag : Stage {
  Tag(actor_config& config, actor next, std::uint64_t channel) : Stage(config, std::move(next)), channel(channel) {}

  behavior make_behavior() override {
    return {
      [this](double value) { send(next, channel, value); },
      [this](end_atom) { end(); },
    };
  }

  const std::uint64_t channel;
};

struct Fir : Stage {
  Fir(actor_config& config, actor next, Signal coefficients)
    : Stage(config, std::move(next)), coefficients(std::move(coefficients)), data(this->coefficients.size()) {}

  behavior make_behavior() override {
    return {
      [this](double value) {
        data[place++] = value;
        if (place == data.size()) {
          place = 0;
          full = true;
        }
        if (full)
          send(next, std::inner_product(data.begin(), data.end(), coefficients.rbegin(), 0.0));
      },
      [this](end_atom) { end(); },
    };
  }

  const Signal coefficients;
  Signal data;
  std::size_t place = 0;
  bool full = false;
};

struct Sample : Stage {
  Sample(actor_config& config, actor next, std::uint64_t rate) : Stage(config, std::move(next)), rate(rate) {}

  behavior make_behavior() override {
    return {
      [this](double value) {
        send(next, before == 0 ? value : 0.0);
        before = (before + 1) % rate;
      },
      [this](end_atom) { end(); },
    };
  }

  const std::uint64_t rate;
  std::uint64_t before = 0;
};

struct Delay : Stage {
  Delay(actor_config& config, actor next, std::uint64_t length) : Stage(config, std::move(next)), ring(length) {}

  behavior make_behavior() override {
    return {
      [this](double value) {
        send(next, ring.empty() ? value : std::exchange(ring[place], value));
        if (++place >= ring.size())
          place = 0;
      },
      [this](end_atom) { end(); },
    };
  }

  Signal ring;
  std::size_t place = 0;
};

struct Branches : Actor {
  Branches(actor_config& config, std::vector<actor> banks) : Actor(config), banks(std::move(banks)) {}

  behavior make_behavior() override {
    return {
      [this](double value) {
        for (auto& bank : banks)
          send(bank, value);
      },
      [this](end_atom) {
        for (auto& bank : banks)
          send(bank, end_atom::value);
        quit();
      },
    };
  }

  std::vector<actor> banks;
};

struct Source : Stage {
  using Stage::Stage;

  behavior make_behavior() override {
    return {
      [this](boot_atom) {
        send(next, static_cast<double>(value));
        value = (value + 1) % 1000;
        answer(boot_atom::value);
      },
      [this](end_atom) { end(); },
    };
  }

  int value = 1;
};

struct Producer : Actor {
  Producer(actor_config& config, actor source, std::uint64_t simulations)
    : Actor(config), source(std::move(source)), left(simulations) {}

  behavior make_behavior() override {
    boot();
    return {[this](boot_atom) { boot(); }};
  }

  void boot() {
    if (left-- > 0) {
      send(source, boot_atom::value);
    } else {
      send(source, end_atom::value);
      quit();
    }
  }

  actor source;
  std::uint64_t left;
};

Signal coefficients(std::uint64_t i, std::uint64_t columns, std::uint64_t channels) {
  Signal out(columns);
  for (std::uint64_t j = 0; j < columns; ++j)
    out[j] = static_cast<double>(j * columns + j * channels + j + i + j + 1);
  return out;
}

/// Makes the chain of a channel from its end, and gives back where it begins.
actor make_bank(Run& run, const actor& integrator, std::uint64_t channel) {
  auto& system = run.system;
  auto columns = run["columns"];
  auto filter = coefficients(channel, columns, run["channels"]);
  actor next = system.spawn<Tag>(integrator, channel);
  next = system.spawn<Fir>(next, filter);
  next = system.spawn<Delay>(next, columns - 1);
  next = system.spawn<Sample>(next, columns);
  next = system.spawn<Fir>(next, std::move(filter));
  return system.spawn<Delay>(next, columns - 1);
}

} // namespace

void savina::filter_bank(Run& run) {
  run.operations = run["simulations"];
  run.begin();
  auto channels = run["channels"];
  auto combine = run.system.spawn<Combine>(run.system.spawn<Sink>(run));
  auto integrator = run.system.spawn<Integrator>(combine, channels);
  std::vector<actor> banks;
  for (std::uint64_t i = 0; i < channels; ++i)
    banks.push_back(make_bank(run, integrator, i));
  auto branches = run.system.spawn<Branches>(std::move(banks));
  run.system.spawn<Producer>(run.system.spawn<Source>(branches), run["simulations"]);
}
