// One run of a program: its parameters, the actor system, and the clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <caf/all.hpp>

class Run {
public:
  using Parameters = std::map<std::string, std::uint64_t>;

  Run(caf::actor_system& sys, Parameters parameters) : system(sys), parameters_(std::move(parameters)) {}

  /// The parameter `name`, which the caller has to give.
  std::uint64_t operator[](const std::string& name) const {
    auto found = parameters_.find(name);
    if (found == parameters_.end())
      throw std::runtime_error("parameter " + name + " is missing");
    return found->second;
  }

  /// Starts the clock: call just before the first actor is made.
  void begin() { start_ = Clock::now(); }

  /// Stops the clock; again, if what comes after the result counts as well.
  void stop_clock() { elapsed_ = Clock::now() - start_; }

  /// Stops the clock and hands over the result. The actor that knows the result calls this, so that the wake-up of
  /// the main thread is not measured.
  void finish(std::uint64_t result) {
    stop_clock();
    done_.set_value(result);
  }

  /// Waits for `finish`.
  std::uint64_t result() { return done_.get_future().get(); }

  std::uint64_t elapsed_ns() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed_).count();
  }

  caf::actor_system& system;
  std::uint64_t operations = 1;
  std::optional<double> bytes_each;

private:
  using Clock = std::chrono::steady_clock;

  Parameters parameters_;
  Clock::time_point start_;
  Clock::duration elapsed_{};
  std::promise<std::uint64_t> done_;
};
