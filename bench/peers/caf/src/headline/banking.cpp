// reasonable-banking, busy-banking: transfers that are done on both accounts or on none, as a two-phase protocol.
#include <deque>
#include <vector>

#include "../actors.hpp"
#include "../random.hpp"
#include "../work.hpp"

using acquire_atom = atom_constant<atom("acquire")>;
using acquired_atom = atom_constant<atom("acquired")>;
using debit_atom = atom_constant<atom("debit")>;
using credit_atom = atom_constant<atom("credit")>;
using yes_atom = atom_constant<atom("yes")>;
using no_atom = atom_constant<atom("no")>;
using commit_atom = atom_constant<atom("commit")>;
using abort_atom = atom_constant<atom("abort")>;
using next_atom = atom_constant<atom("next")>;
using completed_atom = atom_constant<atom("completed")>;
using finished_atom = atom_constant<atom("finished")>;
using balance_atom = atom_constant<atom("balance")>;

namespace {

/// Belongs to one manager at a time; the others wait.
struct Account : Actor {
  Account(actor_config& config, std::uint64_t balance, std::uint64_t work)
    : Actor(config), balance(balance), work(work) {}

  behavior make_behavior() override {
    return {
      [this](acquire_atom) {
        managers.push_back(sender());
        if (managers.size() == 1)
          send(managers.front(), acquired_atom::value);
      },
      [this](debit_atom, std::uint64_t amount) {
        debit = true;
        change = ~amount + 1;
        vote(!closed && balance >= amount);
      },
      [this](credit_atom, std::uint64_t amount) {
        debit = false;
        change = amount;
        vote(!closed);
      },
      [this](commit_atom) {
        balance += change;
        release();
      },
      [this](abort_atom) { release(); },
      [this](balance_atom) { answer(balance); },
    };
  }

  void vote(bool yes) {
    if (yes)
      answer(yes_atom::value);
    else
      answer(no_atom::value);
  }

  void release() {
    if (debit && work > 0)
      busy(work); // once for each transfer
    managers.pop_front();
    if (!managers.empty())
      send(managers.front(), acquired_atom::value);
  }

  std::uint64_t balance;
  const std::uint64_t work;
  bool closed = false;
  bool debit = false;       // the part of the transfer under way
  std::uint64_t change = 0; // what it adds, modulo 2^64
  std::deque<actor> managers; // the first has the account
};

/// Sees to one transfer: acquires the accounts in the order of their numbers, asks both, and tells both.
struct Manager : Actor {
  Manager(actor_config& config, actor teller, actor from, actor to, std::uint64_t amount, bool from_first)
    : Actor(config),
      teller(std::move(teller)),
      from(std::move(from)),
      to(std::move(to)),
      amount(amount),
      from_first(from_first) {}

  behavior make_behavior() override {
    send(from_first ? from : to, acquire_atom::value);
    return {
      [this](acquired_atom) {
        if (++acquired == 1) {
          send(from_first ? to : from, acquire_atom::value);
          return;
        }
        send(teller, next_atom::value);
        send(from, debit_atom::value, amount);
        send(to, credit_atom::value, amount);
      },
      [this](yes_atom) { count(true); },
      [this](no_atom) { count(false); },
    };
  }

  void count(bool yes) {
    all_yes = all_yes && yes;
    if (++votes < 2)
      return;
    if (all_yes) {
      send(from, commit_atom::value);
      send(to, commit_atom::value);
    } else {
      send(from, abort_atom::value);
      send(to, abort_atom::value);
    }
    send(teller, completed_atom::value);
    quit();
  }

  actor teller;
  actor from;
  actor to;
  const std::uint64_t amount;
  const bool from_first;
  int acquired = 0;
  int votes = 0;
  bool all_yes = true;
};

struct Teller : Actor {
  Teller(actor_config& config, actor bank, const std::vector<actor>& accounts, std::uint64_t number,
         std::uint64_t transfers)
    : Actor(config),
      bank(std::move(bank)),
      accounts(accounts),
      random(number + 1),
      to_start(transfers),
      to_complete(transfers) {}

  behavior make_behavior() override {
    transfer();
    return {
      [this](next_atom) { transfer(); },
      [this](completed_atom) {
        if (--to_complete == 0) {
          send(bank, finished_atom::value);
          quit();
        }
      },
    };
  }

  void transfer() {
    if (to_start == 0)
      return;
    --to_start;
    auto from = random.below(accounts.size());
    auto to = random.below(accounts.size());
    if (to == from)
      to = (to + 1) % accounts.size();
    auto amount = random.below(1000);
    spawn<Manager>(self(), accounts[from], accounts[to], amount, from < to);
  }

  actor bank;
  const std::vector<actor> accounts;
  R16 random;
  std::uint64_t to_start;
  std::uint64_t to_complete;
};

struct Bank : Actor {
  Bank(actor_config& config, Run& run, std::uint64_t work) : Actor(config), run(run), work(work) {}

  behavior make_behavior() override {
    for (std::uint64_t i = 0; i < run["accounts"]; ++i)
      accounts.push_back(spawn<Account>(run["start"], work));
    auto tellers = run["tellers"];
    for (std::uint64_t i = 0; i < tellers; ++i) {
      auto share = run["transfers"] * (i + 1) / tellers - run["transfers"] * i / tellers;
      spawn<Teller>(self(), accounts, i, share);
    }
    return {
      [this, tellers](finished_atom) {
        if (++finished == tellers)
          for (auto& account : accounts)
            send(account, balance_atom::value);
      },
      [this](std::uint64_t balance) {
        sum += balance;
        if (++told == accounts.size())
          run.finish(sum);
      },
    };
  }

  Run& run;
  const std::uint64_t work;
  std::vector<actor> accounts;
  std::uint64_t finished = 0;
  std::uint64_t told = 0;
  std::uint64_t sum = 0;
};

} // namespace

void headline::reasonable_banking(Run& run) {
  run.operations = run["transfers"];
  run.begin();
  run.system.spawn<Bank>(run, std::uint64_t{0});
}

void headline::busy_banking(Run& run) {
  run.operations = run["transfers"];
  run.begin();
  run.system.spawn<Bank>(run, run["work"]);
}
