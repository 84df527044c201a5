#include "engine/wake_ups.h"

#include <chrono>

namespace berth::engine {

void WakeUps::emit(Time now, std::optional<Time> when, bool another_pass, Effects& out) {
  constexpr int kMaxPassesAtOnce = 8;
  constexpr std::chrono::seconds kRest{1};
  passes_at_once_ = another_pass ? passes_at_once_ + 1 : 0;
  if (passes_at_once_ > 0) {
    const Time again = passes_at_once_ > kMaxPassesAtOnce ? now + kRest : now;
    if (again != now) passes_at_once_ = 0;
    if (!when || again < *when) when = again;
  }
  if (when && when != reported_) out.push_back(WakeAt{*when});
  reported_ = when;
}

}  // namespace berth::engine
