// A cache used by tasks at once: `cache-calc-*`, with blocking tasks (a strand or a mutex) and with timers.
#include "runtime.hpp"

#include <charconv>
#include <mutex>
#include <unordered_map>

namespace {

class Cache {
public:
    void calc(std::uint64_t keys) {
        for (std::uint64_t i = 0; i < keys; ++i) {
            auto& text = values["key" + std::to_string(i)];
            text = std::to_string(parse(text) + 1);
        }
    }

    std::uint64_t sum() const {
        std::uint64_t sum = 0;
        for (const auto& [key, text] : values) sum += parse(text);
        return sum;
    }

private:
    // Empty text leaves the zero in place.
    static std::uint64_t parse(const std::string& text) {
        std::uint64_t number = 0;
        std::from_chars(text.data(), text.data() + text.size(), number);
        return number;
    }

    std::unordered_map<std::string, std::string> values;
};

// Tasks that block or sleep hold their thread. More threads than this cost more than the sleeps they hide.
constexpr std::uint64_t blocking_threads = 32;

// The tasks run on a pool of their own; `calc` does it once, and waits until it is done.
template <typename Calc>
void run_tasks(const Parameters& parameters, Calc calc) {
    asio::thread_pool tasks(blocking_threads);
    const std::chrono::microseconds sleep(parameters["sleep"]);
    for (std::uint64_t i = parameters["tasks"]; i > 0; --i)
        asio::post(tasks, [&calc, sleep] {
            calc();
            std::this_thread::sleep_for(sleep);
            calc();
        });
    tasks.join();
}

Measured on_strand(const Parameters& parameters) {
    const auto keys = parameters["keys"];
    Pool pool(parameters["workers"]);
    Finish finish;
    const auto begun = Clock::now();
    Strand strand = pool.strand();
    Cache cache;
    run_tasks(parameters, [&] { asio::post(strand, asio::use_future([&] { cache.calc(keys); })).get(); });
    asio::post(strand, [&] { finish.tell(cache.sum()); });
    return finish.wait(pool, begun, 2 * parameters["tasks"]);
}

Measured behind_mutex(const Parameters& parameters) {
    const auto keys = parameters["keys"];
    const auto begun = Clock::now();
    std::mutex mutex;
    Cache cache;
    run_tasks(parameters, [&] {
        const std::scoped_lock lock(mutex);
        cache.calc(keys);
    });
    const auto sum = cache.sum();
    return {Clock::now() - begun, 2 * parameters["tasks"], sum};
}

// A task as a chain of handlers, which blocks no thread. `left` belongs to the strand, as the cache does.
class Task {
public:
    Task(Pool& pool, const Strand& strand, Cache& cache, const Parameters& parameters, Finish& finish,
         std::uint64_t& left)
        : strand(strand), cache(cache), timer(pool.executor()), keys(parameters["keys"]), sleep(parameters["sleep"]),
          finish(finish), left(left) {}

    void start() {
        asio::post(strand, [this] {
            cache.calc(keys);
            timer.expires_after(sleep);
            timer.async_wait([this](const boost::system::error_code&) { go_on(); });
        });
    }

private:
    void go_on() {
        asio::post(strand, [this] {
            cache.calc(keys);
            if (--left == 0) finish.tell(cache.sum());
        });
    }

    const Strand& strand;
    Cache& cache;
    asio::steady_timer timer;
    std::uint64_t keys;
    std::chrono::microseconds sleep;
    Finish& finish;
    std::uint64_t& left;
};

Measured with_timers(const Parameters& parameters) {
    const auto count = parameters["tasks"];
    Pool pool(parameters["workers"]);
    Finish finish;
    std::vector<std::unique_ptr<Task>> tasks;
    const auto begun = Clock::now();
    const Strand strand = pool.strand();
    Cache cache;
    auto left = count;
    for (std::uint64_t i = 0; i < count; ++i)
        tasks.push_back(std::make_unique<Task>(pool, strand, cache, parameters, finish, left));
    for (const auto& task : tasks) task->start();
    return finish.wait(pool, begun, 2 * count);
}

}  // namespace

void add_cache(Programs& programs) {
    for (const std::string sleep : {"8", "64"}) {
        const auto name = "cache-calc-" + sleep;
        programs.push_back({name, "asio", 1, "tasks on a pool of 32 threads block on futures of a strand's work",
                            on_strand});
        programs.push_back({name, "asio-mutex", 1, "tasks on a pool of 32 threads lock a std::mutex", behind_mutex});
        programs.push_back({name, "asio-async", 1, "tasks are chains of handlers: strand, steady_timer, strand",
                            with_timers});
    }
}
