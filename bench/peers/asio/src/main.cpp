// What this peer is, and its programs.
#include "../../cpp/command_line.hpp"
#include "program.hpp"

#include <boost/version.hpp>
#include <cstdio>

namespace {

Programs all_programs() {
    Programs programs;
    for (const auto add : {add_counters, add_rings, add_pairs, add_skynet, add_cache, add_banks, add_dining, add_asks,
                           add_idle})
        add(programs);
    return programs;
}

void about() {
    std::printf("asio: Boost.Asio %d.%d.%d, g++ %s, %s; an io_context run by as many threads as workers; the "
                "recycling allocator of Asio; asio-threads has a thread a philosopher, whatever the workers\n",
                BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100, __VERSION__, FLAGS);
}

}  // namespace

int main(int count, char** values) { return command_line::serve("asio", about, all_programs(), count, values); }
