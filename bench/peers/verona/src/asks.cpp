// A client that asks a server, and waits for each reply: `cown-ask`, `actor-wait`.
#include "runtime.hpp"

#include <future>

namespace {

struct Server {
    std::uint64_t requests = 0;

    std::uint64_t answer() { return ++requests; }
};

struct Client {
    Finish& finish;
    cown_ptr<Server> server;
    std::uint64_t left;
    std::uint64_t sum = 0;

    Client(Finish& finish, std::uint64_t rounds) : finish(finish), server(make_cown<Server>()), left(rounds) {}

    // Adds a reply; says whether another request is to be made.
    bool take(std::uint64_t reply) {
        sum += reply;
        if (--left == 0) finish.part(sum);
        return left > 0;
    }

    // Sends the server a request that carries the client's address.
    void request(cown_ptr<Client> own);
};

void Client::request(cown_ptr<Client> own) {
    when(server) << [own = std::move(own)](auto server) mutable {
        when(std::move(own)) << [reply = server->answer()](auto client) {
            if (client->take(reply)) client->request(client.cown());
        };
    };
}

Measured behaviours(const Parameters& parameters) {
    const auto rounds = parameters["round_trips"];
    return run(parameters["workers"], rounds, 1, [=](Finish& finish) {
        when(make_cown<Client>(finish, rounds)) << [&finish](auto client) {
            finish.begin();
            client->request(client.cown());
        };
    });
}

// The API has nothing to wait with, so the thread waits for a future of the standard library.
Measured waiting(const Parameters& parameters) {
    const auto rounds = parameters["round_trips"];
    Finish finish(1);
    const auto server = make_cown<Server>();
    run_threads(parameters["workers"], 1, finish, [&] {
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < rounds; ++i) {
            std::promise<std::uint64_t> promise;
            auto reply = promise.get_future();
            when(server) << [promise = std::move(promise)](auto server) mutable { promise.set_value(server->answer()); };
            sum += reply.get();
        }
        // The thread is joined by whoever ends the run, so it must not do that itself.
        when() << [&finish, sum] { finish.part(sum); };
    });
    return finish.measured(rounds);
}

}  // namespace

void add_asks(Programs& programs) {
    programs.push_back({"cown-ask", "verona", 1, "a behaviour on the server spawns one on the client", behaviours});
    programs.push_back({"actor-wait", "verona", 1, "a behaviour keeps a std::promise, which a thread waits for", waiting});
}
