// Many threads post to one actor: `counter-*` and `mailbox-n1`.
#include "runtime.hpp"
#include "work.hpp"

namespace {

class Counter {
public:
    explicit Counter(Pool& pool) : strand(pool.strand()) {}

    void add(std::uint64_t number) {
        asio::post(strand, [this, number] { sum += number; });
    }

    void tell(Finish& finish) {
        asio::post(strand, [this, &finish] { finish.tell(sum); });
    }

private:
    Strand strand;
    std::uint64_t sum = 0;
};

Measured counter(const Parameters& parameters) {
    const auto threads = parameters["threads"], messages = parameters["messages"];
    Pool pool(parameters["workers"]);
    Finish finish;
    const auto begun = Clock::now();
    Counter counter(pool);
    {
        std::vector<std::jthread> senders;
        for (std::uint64_t index = 0; index < threads; ++index)
            senders.emplace_back([&counter, own = share(messages, threads, index)] {
                for (std::uint64_t i = 0; i < own; ++i) counter.add(1);
            });
    }
    counter.tell(finish);
    return finish.wait(pool, begun, messages);
}

class Receiver {
public:
    Receiver(Pool& pool, Finish& finish, std::uint64_t messages)
        : strand(pool.strand()), finish(finish), left(messages) {}

    void add(std::uint64_t number) {
        asio::post(strand, [this, number] {
            sum += number;
            if (--left == 0) finish.tell(sum);
        });
    }

private:
    Strand strand;
    Finish& finish;
    std::uint64_t left;
    std::uint64_t sum = 0;
};

Measured mailbox(const Parameters& parameters) {
    const auto senders = parameters["senders"], messages = parameters["messages"];
    Pool pool(parameters["workers"]);
    Finish finish;
    const auto begun = Clock::now();
    Receiver receiver(pool, finish, senders * messages);
    std::vector<std::jthread> threads;
    for (std::uint64_t index = 0; index < senders; ++index)
        threads.emplace_back([&receiver, messages] {
            for (std::uint64_t i = 0; i < messages; ++i) receiver.add(1);
        });
    return finish.wait(pool, begun, senders * messages);
}

}  // namespace

void add_counters(Programs& programs) {
    for (const std::string threads : {"1", "2", "4", "8"})
        programs.push_back({"counter-" + threads, "asio", 1, "threads post to a strand, then its sum is asked for",
                            counter});
    programs.push_back({"mailbox-n1", "asio", 1, "threads post to a strand, which tells when it has all", mailbox});
}
