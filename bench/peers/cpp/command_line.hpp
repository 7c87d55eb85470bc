// The command line of a peer in C++: `about`, `list`, and `run WORKLOAD IMPLEMENTATION name=value ...`.
#pragma once

#include "program.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>

namespace command_line {

inline void list(const Programs& programs) {
    for (const auto& program : programs)
        std::printf("%s\t%s\t%u\t%s\n", program.workload.c_str(), program.implementation.c_str(), program.share,
                    program.how.c_str());
}

inline Parameters parse(std::span<const std::string> settings) {
    Parameters parameters;
    for (const auto& setting : settings) {
        const auto equals = setting.find('=');
        if (equals == std::string::npos) throw std::invalid_argument("not name=value: " + setting);
        const auto name = setting.substr(0, equals);
        if (name != "scale") parameters.set(name, std::stoull(setting.substr(equals + 1)));
    }
    return parameters;
}

inline void run(const Programs& programs, const std::string& workload, const std::string& implementation,
                const Parameters& parameters) {
    for (const auto& program : programs) {
        if (program.workload != workload || program.implementation != implementation) continue;
        const auto measured = program.run(parameters);
        const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(measured.elapsed).count();
        std::printf("{\"elapsed_ns\":%lld,\"operations\":%llu,\"result\":%llu", static_cast<long long>(elapsed),
                    static_cast<unsigned long long>(measured.operations),
                    static_cast<unsigned long long>(measured.result));
        if (measured.bytes_each) std::printf(",\"bytes_each\":%.1f", *measured.bytes_each);
        std::printf("}\n");
        return;
    }
    throw std::invalid_argument("no such program: " + workload + " " + implementation);
}

// Does what the arguments ask for. Errors are reported under the peer's `name`.
inline int serve(const char* name, void (*about)(), const Programs& programs, int count, char** values) try {
    const std::vector<std::string> arguments(values + 1, values + count);
    if (arguments.size() == 1 && arguments[0] == "about")
        about();
    else if (arguments.size() == 1 && arguments[0] == "list")
        list(programs);
    else if (arguments.size() >= 3 && arguments[0] == "run")
        run(programs, arguments[1], arguments[2], parse(std::span(arguments).subspan(3)));
    else
        throw std::invalid_argument("usage: about | list | run WORKLOAD IMPLEMENTATION name=value ...");
    return EXIT_SUCCESS;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return EXIT_FAILURE;
}

}  // namespace command_line
