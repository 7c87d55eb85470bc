// Philosophers that hold both forks while they eat: `dining-scale`, as tasks on the pool and with a thread each.
#include "runtime.hpp"
#include "work.hpp"

#include <algorithm>
#include <mutex>

namespace {

class Table {
public:
    Table(std::uint64_t seats, std::uint64_t work) : forks(seats), work(work) {}

    // The fork of the lower number first, so that philosophers do not lock each other out.
    void eat(std::uint64_t seat) {
        const auto next = (seat + 1) % forks.size();
        const std::scoped_lock lower(forks[std::min(seat, next)]);
        const std::scoped_lock higher(forks[std::max(seat, next)]);
        busy(work);
    }

private:
    std::vector<std::mutex> forks;
    std::uint64_t work;
};

// A meal is a handler, and says the next one: meals of neighbours then rarely meet, as the even seats start first.
class Philosopher {
public:
    Philosopher(Pool& pool, Table& table, Gather& gather, std::uint64_t seat, std::uint64_t meals)
        : pool(pool), table(table), gather(gather), seat(seat), meals(meals) {}

    void hungry() {
        asio::post(pool.executor(), [this] {
            table.eat(seat);
            if (++eaten < meals)
                hungry();
            else
                gather.tell(eaten);
        });
    }

private:
    Pool& pool;
    Table& table;
    Gather& gather;
    std::uint64_t seat;
    std::uint64_t meals;
    std::uint64_t eaten = 0;
};

Measured as_tasks(const Parameters& parameters) {
    const auto seats = parameters["philosophers"], meals = parameters["meals"];
    Table table(seats, parameters["work"]);
    std::vector<std::unique_ptr<Philosopher>> philosophers;
    Pool pool(parameters["workers"]);
    Finish finish;
    Gather gather(finish, seats);
    const auto begun = Clock::now();
    for (std::uint64_t parity : {0, 1})
        for (std::uint64_t seat = parity; seat < seats; seat += 2)
            philosophers.emplace_back(std::make_unique<Philosopher>(pool, table, gather, seat, meals))->hungry();
    return finish.wait(pool, begun, seats * meals);
}

Measured as_threads(const Parameters& parameters) {
    const auto seats = parameters["philosophers"], meals = parameters["meals"];
    Table table(seats, parameters["work"]);
    std::atomic<std::uint64_t> eaten{0};
    std::vector<std::jthread> threads;
    const auto begun = Clock::now();
    for (std::uint64_t seat = 0; seat < seats; ++seat)
        threads.emplace_back([&, seat] {
            for (std::uint64_t i = 0; i < meals; ++i) table.eat(seat);
            eaten += meals;
        });
    for (auto& thread : threads) thread.join();
    return {Clock::now() - begun, seats * meals, eaten};
}

}  // namespace

void add_dining(Programs& programs) {
    programs.push_back({"dining-scale", "asio-mutex", 1,
                        "a meal is a task on the pool, which locks two std::mutexes in order", as_tasks});
    programs.push_back({"dining-scale", "asio-threads", 1,
                        "a thread a philosopher, whatever the workers: its work goes by the clock, so a thread that is "
                        "not running eats as well",
                        as_threads});
}
