// When the engine wants to be called again.
#pragma once

#include <optional>

#include "base/time.h"
#include "engine/effects.h"

namespace berth::engine {

// A plain value.
class WakeUps {
 public:
  // Asks for a wake-up at `when`, the next time at which something is due (nullopt: no such time). `another_pass`: the
  // last pass may enable the next one to admit more (a workload was submitted again, a decision gave quota back).
  // Then the next pass follows immediately, but after some of them only after a rest. An unchanged wake-up is not
  // repeated.
  void emit(Time now, std::optional<Time> when, bool another_pass, Effects& out);
  // The requested wake-up came, or another one: the next one is requested anew.
  void used_up() { reported_.reset(); }

 private:
  std::optional<Time> reported_;
  int passes_at_once_ = 0;  // consecutive passes that asked for another one immediately
};

}  // namespace berth::engine
