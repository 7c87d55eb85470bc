// The random numbers and the work for a processor of bench/PROGRAMS.md.
#pragma once

#include <cstdint>

inline std::uint64_t mix(std::uint64_t counter) {
    auto word = (counter + 1) * 0x9E3779B97F4A7C15;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB;
    return word ^ (word >> 31);
}

inline void spin(std::uint64_t steps) {
    std::uint64_t word = 0x2545F4914F6CDD1D;
    for (std::uint64_t step = 0; step < steps; ++step) {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
    }
    // It counts as used, so the loop stays.
    asm volatile("" : : "r"(word));
}
