#include "engine/second_pass_timers.h"

#include <algorithm>
#include <utility>

#include "engine/lifecycle/topology.h"

namespace berth::engine {

using lifecycle::SecondPassNeed;

void SecondPassTimers::plan(Tracked& t, Time now) {
  const auto need = views_.second_pass_need(t);
  if (need == SecondPassNeed::kNone) {
    t.second_pass.reset();
  } else if (!t.second_pass || t.second_pass->need != need) {
    t.second_pass = SecondPassTimer{need, 1, now + lifecycle::second_pass_delay(1), {}};
  }
  if (t.second_pass && t.second_pass->at <= now && t.await_version.empty()) due_.insert(&t);
}

std::vector<Tracked*> SecondPassTimers::take_due() {
  const auto due = std::exchange(due_, {});
  std::vector<Tracked*> ordered(due.begin(), due.end());
  std::ranges::sort(ordered, [this](const Tracked* a, const Tracked* b) {
    const std::int32_t priority_a = views_.priority(*a->now).effective();
    const std::int32_t priority_b = views_.priority(*b->now).effective();
    if (priority_a != priority_b) return priority_a > priority_b;
    const Time since_a = views_.queue_order_time(*a), since_b = views_.queue_order_time(*b);
    return since_a != since_b ? since_a < since_b : a->now->meta.uid < b->now->meta.uid;
  });
  return ordered;
}

void SecondPassTimers::failed(Tracked& t, const std::string& message, Time now) {
  t.second_pass->failure = message;
  ++t.second_pass->iteration;
  t.second_pass->at = now + lifecycle::second_pass_delay(t.second_pass->iteration);
}

}  // namespace berth::engine
