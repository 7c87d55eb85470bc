// Fork-join Fibonacci: `fork-join`.
#include "runtime.hpp"

namespace {

struct Call {
    Finish& finish;
    // None for the call from outside.
    cown_ptr<Call> caller;
    std::uint64_t sum = 0;
    std::uint64_t missing = 2;

    Call(Finish& finish, cown_ptr<Call> caller) : finish(finish), caller(std::move(caller)) {}

    void answer(std::uint64_t value);

    void take(std::uint64_t value) {
        sum += value;
        if (--missing == 0) answer(sum);
    }
};

void Call::answer(std::uint64_t value) {
    if (!caller) return finish.part(value);
    // A call answers once, so its caller is handed on.
    when(std::move(caller)) << [value](auto caller) { caller->take(value); };
}

void request(Finish& finish, cown_ptr<Call> caller, std::uint64_t number) {
    auto call = make_cown<Call>(finish, std::move(caller));
    if (number < 2) {
        when(std::move(call)) << [number](auto call) { call->answer(number); };
    } else {
        when(std::move(call)) << [number](auto call) {
            request(call->finish, call.cown(), number - 1);
            request(call->finish, call.cown(), number - 2);
        };
    }
}

Measured fibonacci(const Parameters& parameters) {
    const auto number = parameters["number"];
    return run(parameters["workers"], 2 * parameters["calls"], 1, [=](Finish& finish) {
        finish.begin();
        request(finish, {}, number);
    });
}

}  // namespace

void add_fibonacci(Programs& programs) {
    programs.push_back({"fork-join", "verona", 1, "a cown a call; a behaviour for the request, one for the reply",
                        fibonacci});
}
