// Chains of work that share nothing: `independent`.
#include "runtime.hpp"
#include "work.hpp"

namespace {

struct Chain {
    Finish& finish;
    std::uint64_t pieces;
    std::uint64_t steps;
    std::uint64_t done = 0;

    Chain(Finish& finish, std::uint64_t pieces, std::uint64_t steps) : finish(finish), pieces(pieces), steps(steps) {}
};

void next(const cown_ptr<Chain>& chain) {
    when(chain) << [](auto chain) {
        spin(chain->steps);
        if (++chain->done == chain->pieces)
            chain->finish.part(chain->done);
        else
            next(chain.cown());
    };
}

Measured chains(const Parameters& parameters, std::uint64_t workers) {
    const auto count = parameters["chains"], pieces = parameters["pieces"], steps = parameters["steps"];
    return run(workers, count * pieces, count, [=](Finish& finish) {
        finish.begin();
        for (std::uint64_t i = 0; i < count; ++i) next(make_cown<Chain>(finish, pieces, steps));
    });
}

}  // namespace

void add_independent(Programs& programs) {
    programs.push_back({"independent", "verona", 1, "a cown a chain, a behaviour a piece",
                        [](const Parameters& parameters) { return chains(parameters, parameters["workers"]); }});
    programs.push_back({"independent", "verona-single", 1, "the same on one worker",
                        [](const Parameters& parameters) { return chains(parameters, 1); }});
}
