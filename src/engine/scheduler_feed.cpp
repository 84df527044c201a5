#include "engine/scheduler_feed.h"

#include <string>
#include <utility>

#include "api/meta.h"
#include "engine/lifecycle/next.h"

namespace berth::engine {

// Quota passes from a slice to its successor, and back when the successor could not be written, before anything else
// is decided.
void SchedulerFeed::follow_slices(Tracked& t, Time now) {
  slices_.file(t);
  const bool was_replaced = std::exchange(t.replaced, slices_.is_replaced(t));
  // Once another one holds its quota, nobody asks what it holds.
  if (!t.replaced || !was_replaced) slices_.mark_successors(t);
  Tracked* former = slices_.predecessor(t);
  if (former == nullptr) return;
  if (lifecycle::state_of(*former->now) != lifecycle::State::kFinished &&
      !slices_.reported_replacement(*former).empty())
    workloads_.mark(*former);  // it finishes
  const bool replaced = slices_.is_replaced(*former);
  if (former->replaced == replaced) return;
  if (!replaced) scheduler_.release(t.id);  // never do both hold something
  workloads_.mark(*former);
  update(*former, now);
}

void SchedulerFeed::update(Tracked& t, Time now) {
  follow_slices(t, now);
  reports_.touch(t);
  const std::string local_key = api::object_key(t.now->meta.ns, t.now->queue_name);
  const auto* holding = holding_status(t);
  const auto* local = facts_.registries.local_queue(local_key);
  workloads_.file(t, local_key,
                  holding != nullptr ? holding->admission->cluster_queue
                  : local != nullptr ? local->cluster_queue
                                     : std::string());
  reports_.touch(t);
  second_passes_.plan(t, now);
  set_timer(t);

  if (holding != nullptr) {
    scheduler_.hold(t.id, views_.holding(t, *holding));
    return;
  }
  if (scheduler_.holds(t.id)) scheduler_.release(t.id);
  const bool anew = std::exchange(t.report_again, false);
  if (auto pending = views_.pending(t)) {
    if (scheduler_.submit(t.id, *pending, anew)) say_of_this_generation(t, now);
  } else {
    scheduler_.withdraw(t.id);
  }
}

// What was said about a former generation of a waiting workload is said about this one too, because it still holds.
void SchedulerFeed::say_of_this_generation(Tracked& t, Time now) {
  const auto* quota = api::find_condition(t.now.status().conditions, api::kueue::kQuotaReserved);
  const bool said = quota != nullptr && !quota->status && quota->observed_generation != t.now->meta.generation;
  if (!said || t.unreported_reason) return;
  t.unreported_reason = lifecycle::PendingReason{quota->reason, quota->message, {}};
  messages_.report_later(t, now);
}

void SchedulerFeed::set_timer(Tracked& t) {
  if (t.await_until) return workloads_.set_timer(t, t.await_until);
  auto timer = lifecycle::next_time(*t.now, facts_.options.wait_for_pods_ready,
                                    facts_.options.topology_waits.places_timeout, views_.report_due(t));
  const auto second_pass = t.second_pass ? std::optional(t.second_pass->at) : std::nullopt;
  for (const auto& other : {t.retry_at, second_pass, t.node_deadline}) {
    if (other && (!timer || *other < *timer)) timer = other;
  }
  workloads_.set_timer(t, timer);
}

}  // namespace berth::engine
