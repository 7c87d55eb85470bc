// Work that stands for what a program would compute.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>

/// Tells the compiler that `value` is used, so that its computation stays.
template <class T>
void keep(T value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

/// `steps` rounds of a xorshift generator.
inline void spin(std::uint64_t steps) {
  std::uint64_t w = 0x2545F4914F6CDD1D;
  while (steps-- > 0) {
    w ^= w << 13;
    w ^= w >> 7;
    w ^= w << 17;
  }
  keep(w);
}

/// Turns until the clock is `micros` on.
inline void busy(std::uint64_t micros) {
  using Clock = std::chrono::steady_clock;
  auto end = Clock::now() + std::chrono::microseconds(micros);
  while (Clock::now() < end) {
  }
}

/// What a fork-join actor computes for a message: 1 if sin(37.2)² is above 0.
inline std::uint64_t sine_work() {
  volatile double angle = 37.2; // volatile: it is to be computed each time
  double s = std::sin(angle);
  return s * s > 0 ? 1 : 0;
}

/// The bits of a double, as a number.
inline std::uint64_t bits(double value) {
  std::uint64_t out;
  std::memcpy(&out, &value, sizeof out);
  return out;
}
