// What the actors of all programs share.
#pragma once

#include "programs.hpp"

using caf::actor;
using caf::actor_config;
using caf::atom;
using caf::atom_constant;
using caf::behavior;

/// A dynamically typed, event-based actor: the lightest kind that CAF has.
struct Actor : caf::event_based_actor {
  using caf::event_based_actor::event_based_actor;

  actor self() { return caf::actor_cast<actor>(this); }

  actor sender() { return caf::actor_cast<actor>(current_sender()); }

  /// Sends to the sender of the current message. A plain send is a little faster than a handler's return value, which
  /// goes through a response promise.
  template <class... Ts>
  void answer(Ts&&... xs) {
    send(sender(), std::forward<Ts>(xs)...);
  }
};
