// What this peer is, and its programs.
#include "../../cpp/command_line.hpp"
#include "program.hpp"

#include <cstdio>

namespace {

Programs all_programs() {
    Programs programs;
    for (const auto add : {add_producers, add_rings, add_asks, add_skynet, add_idle, add_bank, add_fibonacci, add_dining,
                           add_independent, add_lives})
        add(programs);
    return programs;
}

void about() { std::printf("verona: %s, g++ %s, %s; a worker is bound to a processor\n", SOURCES, __VERSION__, FLAGS); }

}  // namespace

int main(int count, char** values) { return command_line::serve("verona", about, all_programs(), count, values); }
