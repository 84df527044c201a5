#include "engine/queue_totals.h"

#include "engine/tracked.h"

namespace berth::engine {

void QueueTotals::take_out(const Tracked& t) {
  count_out(t);
  sum_out(t);
}

void QueueTotals::put_in(const Tracked& t) {
  count_in(t);
  sum_in(t);
}

void QueueTotals::add(CountsByQueue& counts, const std::string& name, const QueueCensus::Why& why) {
  if (!name.empty()) ++counts[name][why];
}

void QueueTotals::subtract(CountsByQueue& counts, const std::string& name, const QueueCensus::Why& why) {
  const auto queue = counts.find(name);
  if (queue == counts.end()) return;
  const auto own = queue->second.find(why);
  if (--own->second == 0) queue->second.erase(own);
  if (queue->second.empty()) counts.erase(queue);
}

void QueueTotals::wait(Tracked& t, const Ptr<RequestedPods>& requests) {
  if (t.waits_for == requests || (t.waits_for && requests && *t.waits_for == *requests)) return;
  sum_out(t);
  t.waits_for = requests;
  sum_in(t);
}

void QueueTotals::sum_in(const Tracked& t) {
  if (t.waits_for) asked_.add(t.cluster_queue, t.waits_for->pod_sets);
  if (!t.held) return;
  held_by_local_queue_.add(t.local_queue, *t.held);
  held_by_cluster_queue_.add(t.cluster_queue, *t.held);
}

void QueueTotals::sum_out(const Tracked& t) {
  if (t.waits_for) asked_.subtract(t.cluster_queue, t.waits_for->pod_sets);
  if (!t.held) return;
  held_by_local_queue_.subtract(t.local_queue, *t.held);
  held_by_cluster_queue_.subtract(t.cluster_queue, *t.held);
}

void QueueTotals::count_in(const Tracked& t) {
  if (t.why == nullptr) return;
  add(counts_by_local_queue_, t.local_queue, *t.why);
  add(counts_by_cluster_queue_, t.cluster_queue, *t.why);
}

void QueueTotals::count_out(const Tracked& t) {
  if (t.why == nullptr) return;
  subtract(counts_by_local_queue_, t.local_queue, *t.why);
  subtract(counts_by_cluster_queue_, t.cluster_queue, *t.why);
}

void QueueTotals::hold(Tracked& t, const HeldAmounts* held) {
  const bool same =
      held == nullptr ? !t.held : t.held && t.held->admitted == held->admitted && t.held->amounts == held->amounts;
  if (same) return;
  sum_out(t);
  t.held = held == nullptr ? Rare<HeldAmounts>() : Rare<HeldAmounts>(*held);
  sum_in(t);
}

void QueueTotals::count(Tracked& t, const std::optional<QueueCensus::Why>& why) {
  if (t.why == nullptr ? !why : why && *t.why == *why) return;
  count_out(t);
  if (t.why != nullptr) {
    const auto former = whys_.find(*t.why);
    t.why = nullptr;
    if (--former->second == 0) whys_.erase(former);
  }
  if (!why) return;
  const auto now = whys_.try_emplace(*why, 0).first;
  ++now->second;
  t.why = &now->first;
  count_in(t);
}

const QueueTotals::Counts& QueueTotals::counts_of_local_queue(std::string_view key) const {
  static const Counts kNone;
  const auto it = counts_by_local_queue_.find(key);
  return it == counts_by_local_queue_.end() ? kNone : it->second;
}

const QueueTotals::Counts& QueueTotals::counts_of_cluster_queue(std::string_view name) const {
  static const Counts kNone;
  const auto it = counts_by_cluster_queue_.find(name);
  return it == counts_by_cluster_queue_.end() ? kNone : it->second;
}

}  // namespace berth::engine
