// The random numbers that all peers share, so that each does the same work.
#pragma once

#include <cstdint>

class R16 {
public:
  explicit R16(std::uint64_t seed) : state_(static_cast<std::uint16_t>(seed)) {}

  std::uint64_t next() {
    state_ = static_cast<std::uint16_t>(state_ * 1309u + 13849u);
    return state_;
  }

  std::uint64_t below(std::uint64_t n) { return next() % n; }

private:
  std::uint16_t state_;
};

class R64 {
public:
  explicit R64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 4;
  }

private:
  std::uint64_t state_;
};
