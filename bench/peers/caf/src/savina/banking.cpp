// banking: a teller sends transfers to accounts; an account finishes one before it starts the next.
#include <deque>
#include <vector>

#include "../actors.hpp"
#include "../random.hpp"

using transfer_atom = atom_constant<atom("transfer")>;
using deposit_atom = atom_constant<atom("deposit")>;
using deposited_atom = atom_constant<atom("deposited")>;
using completed_atom = atom_constant<atom("completed")>;
using balance_atom = atom_constant<atom("balance")>;

namespace {

struct Transfer {
  actor teller;
  actor to;
  std::int64_t amount;
};

struct Account : Actor {
  Account(actor_config& config, std::uint64_t number) : Actor(config), number(number) {}

  behavior make_behavior() override {
    return {
      [this](transfer_atom, const actor& to, std::int64_t amount) {
        waiting.push_back({sender(), to, amount});
        if (waiting.size() == 1)
          begin_transfer();
      },
      [this](deposit_atom, std::int64_t amount) {
        balance += amount;
        answer(deposited_atom::value);
      },
      [this](deposited_atom) {
        send(waiting.front().teller, completed_atom::value);
        waiting.pop_front();
        if (!waiting.empty())
          begin_transfer();
      },
      [this](balance_atom) { answer(number, balance); },
    };
  }

  void begin_transfer() {
    auto& transfer = waiting.front();
    balance -= transfer.amount;
    send(transfer.to, deposit_atom::value, transfer.amount);
  }

  const std::uint64_t number;
  std::int64_t balance = 0;
  // The transfer under way and those behind it. CAF's own `skip` would look at each of them again for every message.
  std::deque<Transfer> waiting;
};

struct Teller : Actor {
  Teller(actor_config& config, Run& run) : Actor(config), run(run), transactions(run["transactions"]) {}

  behavior make_behavior() override {
    auto count = run["accounts"];
    for (std::uint64_t i = 0; i < count; ++i)
      accounts.push_back(spawn<Account>(i));
    R16 random(74755);
    for (std::uint64_t i = 0; i < transactions; ++i) {
      auto from = random.below(count * 8 / 10);
      auto distance = random.below(count - from);
      auto to = from + (distance == 0 ? 1 : distance);
      auto amount = static_cast<std::int64_t>(1 + random.below(1000));
      send(accounts[from], transfer_atom::value, accounts[to], amount);
    }
    return {
      [this](completed_atom) {
        if (++completed == transactions)
          for (auto& account : accounts)
            send(account, balance_atom::value);
      },
      [this](std::uint64_t number, std::int64_t balance) {
        sum += (number + 1) * static_cast<std::uint64_t>(balance);
        if (++told == accounts.size())
          run.finish(sum);
      },
    };
  }

  Run& run;
  const std::uint64_t transactions;
  std::vector<actor> accounts;
  std::uint64_t completed = 0;
  std::uint64_t told = 0;
  std::uint64_t sum = 0;
};

} // namespace

void savina::banking(Run& run) {
  run.operations = run["transactions"];
  run.begin();
  run.system.spawn<Teller>(run);
}
