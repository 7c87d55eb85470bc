// Transfers between accounts: `transfers`. Without `crowd`, as without `many-to-one` (producers.cpp).
#include "runtime.hpp"
#include "work.hpp"

namespace {

// A balance, and how often it was changed.
struct Account {
    std::uint64_t balance = 0;
    std::uint64_t uses = 0;

    void pay(std::uint64_t amount) { receive(-amount); }

    void receive(std::uint64_t amount) {
        balance += amount;
        ++uses;
    }
};

using Accounts = std::vector<cown_ptr<Account>>;

struct Transfer {
    std::uint64_t from, to, amount;

    Transfer(std::uint64_t number, std::uint64_t accounts) {
        const auto random = mix(number);
        const auto below = [](std::uint64_t bits, std::uint64_t bound) { return ((bits & 0xFFFFFF) * bound) >> 24; };
        from = below(random, accounts);
        const auto other = below(random >> 24, accounts - 1);
        to = other >= from ? other + 1 : other;
        amount = random >> 58;
    }
};

void both(const Accounts& accounts, const Transfer& transfer) {
    when(accounts[transfer.from], accounts[transfer.to]) << [amount = transfer.amount](auto from, auto to) {
        from->pay(amount);
        to->receive(amount);
    };
}

void one_by_one(const Accounts& accounts, const Transfer& transfer) {
    const auto amount = transfer.amount;
    when(accounts[transfer.from]) << [amount](auto from) { from->pay(amount); };
    when(accounts[transfer.to]) << [amount](auto to) { to->receive(amount); };
}

// An audit over all accounts, spawned after all transfers, is the end of the run.
Measured bank(const Parameters& parameters, void (*order)(const Accounts&, const Transfer&)) {
    const auto count = parameters["accounts"], transfers = parameters["transfers"];
    return run(parameters["workers"], transfers, 1, [=](Finish& finish) {
        Accounts accounts;
        for (std::uint64_t i = 0; i < count; ++i) accounts.push_back(make_cown<Account>());
        finish.begin();
        for (std::uint64_t number = 0; number < transfers; ++number) order(accounts, Transfer(number, count));
        when(cown_array<Account>(accounts.data(), count)) << [&finish](auto accounts) {
            std::uint64_t digest = 0;
            for (std::size_t i = 0; i < accounts.length(); ++i) {
                const auto account = accounts[i];
                digest = (digest + account.get_ref().balance) * 0x9E3779B97F4A7C15 + account.get_ref().uses;
            }
            finish.part(digest);
        };
    });
}

}  // namespace

void add_bank(Programs& programs) {
    programs.push_back({"transfers", "verona", 1, "a behaviour on both accounts",
                        [](const Parameters& parameters) { return bank(parameters, both); }});
    programs.push_back({"transfers", "verona-singles", 1, "two behaviours, one on each account (not atomic)",
                        [](const Parameters& parameters) { return bank(parameters, one_by_one); }});
}
