// The threads that run handlers, actors as strands, and how the last of them ends the clock.
#pragma once

#include "program.hpp"

#include <atomic>
#include <future>
#include <memory>
#include <thread>
// Asio 1.74 uses std::exchange without including its header.
#include <utility>

#include <boost/asio.hpp>

namespace asio = boost::asio;

// The strand that came with io_context: its messages are two to five times as fast as those of asio::strand<Executor>. It
// draws one of 193 queues, which strands share.
using Strand = asio::io_context::strand;

// An io_context with as many threads. It knows their number: a single one needs no waking of others.
class Pool {
public:
    explicit Pool(std::uint64_t threads) : context(static_cast<int>(threads)), work(context.get_executor()) {
        for (std::uint64_t i = 0; i < threads; ++i) running.emplace_back([this] { context.run(); });
    }

    ~Pool() { join(); }

    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    asio::io_context::executor_type executor() { return context.get_executor(); }

    Strand strand() { return Strand(context); }

    // Afterwards no handler runs, so that what handlers use may be freed.
    void join() {
        context.stop();
        for (auto& thread : running) thread.join();
        running.clear();
    }

private:
    asio::io_context context;
    asio::executor_work_guard<asio::io_context::executor_type> work;
    std::vector<std::thread> running;
};

// An io_context a thread: what is posted to one runs in order without a strand.
class Contexts {
public:
    explicit Contexts(std::uint64_t threads) {
        for (std::uint64_t i = 0; i < threads; ++i) pools.push_back(std::make_unique<Pool>(1));
    }

    asio::io_context::executor_type executor(std::uint64_t group) { return pools[group % pools.size()]->executor(); }

    void join() {
        for (const auto& pool : pools) pool->join();
    }

private:
    std::vector<std::unique_ptr<Pool>> pools;
};

// Where the program's last actor says the result, which stops the clock there and then.
class Finish {
public:
    void tell(std::uint64_t result) { told.set_value({Clock::now(), result}); }

    // `begun` is when the clock began. The threads are joined before anything that they use is freed.
    template <typename Threads>
    Measured wait(Threads& threads, Clock::time_point begun, std::uint64_t operations) {
        const auto [at, result] = told.get_future().get();
        threads.join();
        return {at - begun, operations, result};
    }

private:
    struct Told {
        Clock::time_point at;
        std::uint64_t result;
    };

    std::promise<Told> told;
};

// Sums up what `parts` actors tell, each once, and tells the sum with the last.
class Gather {
public:
    Gather(Finish& finish, std::uint64_t parts) : finish(finish), left(parts) {}

    void tell(std::uint64_t part) {
        sum.fetch_add(part, std::memory_order_relaxed);
        // The last to come sees what all others have added.
        if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) finish.tell(sum.load(std::memory_order_relaxed));
    }

private:
    Finish& finish;
    std::atomic<std::uint64_t> sum{0};
    std::atomic<std::uint64_t> left;
};
