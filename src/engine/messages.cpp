#include "engine/messages.h"

namespace berth::engine {

Messages::Messages(const Messages& other, TrackedWorkloads& workloads) : leisure_(other.leisure_) {
  for (const auto& [since, t] : other.untold_) untold_.emplace_hint(untold_.end(), since, workloads.find(t->id));
}

void Messages::tell_later(Tracked& t, Time now) {
  if (!t.untold_since) t.untold_since = now;
  untold_.emplace(*t.untold_since, &t);
}

void Messages::told(Tracked& t) {
  if (t.untold_since) untold_.erase({*t.untold_since, &t});
  t.untold_since.reset();
}

Tracked* Messages::take_next(Time now) {
  if (untold_.empty() || !leisure_.may(now)) return nullptr;
  Tracked& t = *untold_.begin()->second;
  told(t);
  return &t;
}

}  // namespace berth::engine
