// Transfers that check both accounts under two mutexes: `reasonable-banking`, and `busy-banking` with work in each.
#include "runtime.hpp"
#include "work.hpp"

#include <algorithm>
#include <mutex>

namespace {

// A cache line each: threads that lock neighbours do not disturb each other.
struct alignas(64) Account {
    std::mutex mutex;
    std::uint64_t balance;
    bool closed = false;

    explicit Account(std::uint64_t balance) : balance(balance) {}
};

using Accounts = std::vector<std::unique_ptr<Account>>;

void transfer(Accounts& accounts, std::uint64_t from, std::uint64_t to, std::uint64_t amount, std::uint64_t work) {
    // In the order of the numbers, so that no two transfers lock each other out.
    const std::scoped_lock lower(accounts[std::min(from, to)]->mutex);
    const std::scoped_lock higher(accounts[std::max(from, to)]->mutex);
    auto& source = *accounts[from];
    auto& destination = *accounts[to];
    if (!source.closed && !destination.closed && source.balance >= amount) {
        source.balance -= amount;
        destination.balance += amount;
    }
    if (work > 0) busy(work);
}

void teller(Accounts& accounts, std::uint64_t transfers, std::uint64_t seed, std::uint64_t work) {
    R16 random(seed);
    for (std::uint64_t i = 0; i < transfers; ++i) {
        const auto from = random.below(accounts.size());
        auto to = random.below(accounts.size());
        const auto amount = random.below(1000);
        if (to == from) to = (to + 1) % accounts.size();
        transfer(accounts, from, to, amount, work);
    }
}

std::uint64_t sum(const Accounts& accounts) {
    std::uint64_t sum = 0;
    for (const auto& account : accounts) sum += account->balance;
    return sum;
}

Measured bank(const Parameters& parameters, std::uint64_t work) {
    const auto transfers = parameters["transfers"], tellers = parameters["tellers"];
    Accounts accounts;
    Pool pool(parameters["workers"]);
    Finish finish;
    std::atomic<std::uint64_t> left = tellers;
    const auto begun = Clock::now();
    for (std::uint64_t i = 0; i < parameters["accounts"]; ++i)
        accounts.push_back(std::make_unique<Account>(parameters["start"]));
    for (std::uint64_t index = 0; index < tellers; ++index)
        asio::post(pool.executor(), [&, index, own = share(transfers, tellers, index)] {
            teller(accounts, own, index + 1, work);
            // The last to come sees the balances that all others have left.
            if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) finish.tell(sum(accounts));
        });
    return finish.wait(pool, begun, transfers);
}

}  // namespace

void add_banks(Programs& programs) {
    const std::string how = "tellers are tasks on the pool; a transfer locks two std::mutexes in order";
    programs.push_back({"reasonable-banking", "asio-mutex", 1, how, [](const auto& p) { return bank(p, 0); }});
    programs.push_back({"busy-banking", "asio-mutex", 1, how, [](const auto& p) { return bank(p, p["work"]); }});
}
