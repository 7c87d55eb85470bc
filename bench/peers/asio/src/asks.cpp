// One question after the other: `ask-latency`.
#include "runtime.hpp"

namespace {

class Asker;

class Answerer {
public:
    explicit Answerer(Pool& pool) : strand(pool.strand()) {}

    void ask(Asker& asker);

private:
    Strand strand;
    std::uint64_t answers = 0;
};

class Asker {
public:
    Asker(Pool& pool, Answerer& answerer, Finish& finish, std::uint64_t asks)
        : strand(pool.strand()), answerer(answerer), finish(finish), asks(asks) {}

    void start() {
        asio::post(strand, [this] { answerer.ask(*this); });
    }

    void answer(std::uint64_t count) {
        asio::defer(strand, [this, count] {
            if (count == asks)
                finish.tell(count);
            else
                answerer.ask(*this);
        });
    }

private:
    Strand strand;
    Answerer& answerer;
    Finish& finish;
    std::uint64_t asks;
};

void Answerer::ask(Asker& asker) {
    asio::defer(strand, [this, &asker] { asker.answer(++answers); });
}

Measured latency(const Parameters& parameters) {
    const auto asks = parameters["asks"];
    Pool pool(parameters["workers"]);
    Finish finish;
    const auto begun = Clock::now();
    Answerer answerer(pool);
    Asker asker(pool, answerer, finish, asks);
    asker.start();
    return finish.wait(pool, begun, asks);
}

}  // namespace

void add_asks(Programs& programs) {
    programs.push_back({"ask-latency", "asio", 1, "two strands that defer to each other; no thread waits", latency});
}
