// The random numbers and the busy work of bench/PROGRAMS.md.
#pragma once

#include "program.hpp"

class R16 {
public:
    explicit R16(std::uint64_t seed) : state(static_cast<std::uint32_t>(seed)) {}

    std::uint32_t below(std::uint64_t limit) {
        state = (state * 1309 + 13849) & 0xFFFF;
        return state % static_cast<std::uint32_t>(limit);
    }

private:
    std::uint32_t state;
};

inline void busy(std::uint64_t microseconds) {
    const auto end = Clock::now() + std::chrono::microseconds(microseconds);
    while (Clock::now() < end) {
    }
}

// The size of part `index` (from 0) when `whole` is dealt to `parts`.
inline std::uint64_t share(std::uint64_t whole, std::uint64_t parts, std::uint64_t index) {
    return whole / parts + (index < whole % parts ? 1 : 0);
}
