// The runtime that the programs run on, and how they begin and stop the clock from within.
#pragma once

#include "program.hpp"

#include <atomic>
#include <barrier>
#include <cpp/when.h>
#include <latch>
#include <thread>
#include <utility>

using verona::cpp::cown_array;
using verona::cpp::cown_ptr;
using verona::cpp::make_cown;
using verona::cpp::when;
using verona::rt::Scheduler;

// The clock of a program. Its last part stops it there and then, so that no wake-up and no tear-down is in the figure.
class Finish {
public:
    explicit Finish(std::uint64_t parts) : left(parts) {}

    Finish(const Finish&) = delete;
    Finish& operator=(const Finish&) = delete;

    void begin() { begun = Clock::now(); }

    void part(std::uint64_t result) {
        add(result);
        // The last to come sees what all others have added.
        if (left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        ended = Clock::now();
        if (after) after();
    }

    // Adds to the result outside of the clock.
    void add(std::uint64_t result) { sum.fetch_add(result, std::memory_order_relaxed); }

    // Asked when the runtime has ended.
    Measured measured(std::uint64_t operations) const { return {ended - begun, operations, sum.load()}; }

    // What is to be done when the clock has stopped, in the behaviour that stopped it.
    std::function<void()> after;

private:
    std::atomic<std::uint64_t> left;
    std::atomic<std::uint64_t> sum{0};
    Clock::time_point begun{};
    Clock::time_point ended{};
};

// Runs `first` as the first behaviour on so many workers, and returns when there is nothing left to run.
template <typename First>
void run_workers(std::uint64_t workers, First first) {
    auto& scheduler = Scheduler::get();
    scheduler.init(workers);
    when() << std::move(first);
    // The workers come together before they run anything: the start of threads does not belong to the figures.
    std::barrier<> together(static_cast<std::ptrdiff_t>(workers));
    void (*const arrive)(std::barrier<>*) = [](std::barrier<>* all) { all->arrive_and_wait(); };
    scheduler.run_with_startup(arrive, &together);
}

// A program whose `start` begins the clock, in a behaviour, and so many parts of which tell their results.
template <typename Start>
Measured run(std::uint64_t workers, std::uint64_t operations, std::uint64_t parts, Start start) {
    Finish finish(parts);
    run_workers(workers, [&] { start(finish); });
    return finish.measured(operations);
}

// Runs plain threads beside the workers. They are let go together when these run, with which the clock begins.
template <typename Body>
void run_threads(std::uint64_t workers, std::uint64_t threads, Finish& finish, Body body) {
    std::latch go(1);
    // Made before the workers, of which the main thread becomes one: workers are bound to a processor, and threads that
    // they make would be, too.
    std::vector<std::thread> running;
    for (std::uint64_t i = 0; i < threads; ++i)
        running.emplace_back([&] {
            go.wait();
            body();
        });
    finish.after = [&running] {
        // A thread looks at the scheduler when its last behaviour is queued already; only then may the workers end.
        for (auto& thread : running) thread.join();
        Scheduler::remove_external_event_source();
    };
    run_workers(workers, [&] {
        // Keeps the workers when they have nothing to do.
        Scheduler::add_external_event_source();
        finish.begin();
        go.count_down();
    });
}
