// What a program is to the command line: its names, and how to run it once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using Clock = std::chrono::steady_clock;

// The values of `name=value`. `scale`, which may have a fraction, is left out: no program here uses it.
class Parameters {
public:
    void set(const std::string& name, std::uint64_t value) { values[name] = value; }

    std::uint64_t operator[](const std::string& name) const {
        const auto found = values.find(name);
        if (found == values.end()) throw std::invalid_argument("missing parameter " + name);
        return found->second;
    }

private:
    std::map<std::string, std::uint64_t> values;
};

struct Measured {
    Clock::duration elapsed;
    std::uint64_t operations;
    std::uint64_t result;
    std::optional<double> bytes_each{};
};

struct Program {
    std::string workload;
    std::string implementation;
    unsigned share;
    std::string how;
    std::function<Measured(const Parameters&)> run;
};

using Programs = std::vector<Program>;
