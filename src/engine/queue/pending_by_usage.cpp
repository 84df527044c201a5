// The order by usage: local queues by their scores, and the workloads of each in their own order.
#include <algorithm>

#include "engine/queue/pending.h"

namespace berth::engine {

// All workloads leave and come back, because their classes change.
void PendingQueue::order_by_usage(bool by_usage) {
  if (by_usage_ == by_usage) return;
  const WorkloadId sticky = sticky_, preempted_for = preempted_for_;
  std::vector<WorkloadId> aside(aside_.begin(), aside_.end()), queued;
  for (const WorkloadId each : page(0, size())) {
    if (!aside_.contains(each)) queued.push_back(each);
  }
  for (const WorkloadId each : queued) erase(each);
  for (const WorkloadId each : aside) erase(each);
  by_usage_ = by_usage;
  for (const WorkloadId each : queued) push(each);
  for (const WorkloadId each : aside) put_aside(each);
  sticky_ = sticky;
  preempted_for_ = preempted_for;
}

void PendingQueue::rank() {
  if (!by_usage_) return;
  for (auto& [id, local] : by_local_queue_) list(id, local);
}

void PendingQueue::rank(LocalQueueId local_queue) {
  if (!by_usage_) return;
  if (const auto it = by_local_queue_.find(local_queue); it != by_local_queue_.end()) list(it->first, it->second);
}

void PendingQueue::list(LocalQueueId id, Local& local) {
  const Score& score = slots_.score(id);
  const Key first = local.awake.empty() ? Key() : local.awake.first();
  if (local.first.workload == first.workload && local.score == score) return;
  const bool listed = local.first.workload.valid();
  local.score = score;
  local.first = first;
  if (!listed && first.workload.valid()) ranked_.add(local);
  if (listed && first.workload.valid()) ranked_.settle(local);
  if (listed && !first.workload.valid()) ranked_.remove(local);
}

void PendingQueue::copy_local_queues(const PendingQueue& other) {
  ranked_.expect(other.ranked_.size());
  for (const auto& [id, local] : other.by_local_queue_) {
    Local& own = by_local_queue_.try_emplace(by_local_queue_.end(), id, local, slots_)->second;
    if (own.first.workload.valid()) ranked_.put(own, own.place);
  }
  for (const auto& [key, id] : by_key_) {
    if (by_usage_) classes_[id.index()].local = &by_local_queue_.find(key.local_queue)->second;
  }
}

const Score& PendingQueue::score_of(const Key& key) const {
  return by_local_queue_.find(slots_[key.workload].local_queue)->second.score;
}

bool PendingQueue::precedes(const Key& a, const Key& b) const {
  if (by_usage_) {
    const Score &x = score_of(a), &y = score_of(b);
    if (x != y) return x < y;
  }
  return Before{&slots_}(a, b);
}

bool PendingQueue::evaluates(const Class& c) const {
  if (!by_usage_) return awake_.contains(c.members.first());
  const auto local = by_local_queue_.find(c.key.local_queue);
  if (local == by_local_queue_.end() || c.local != &local->second) return false;
  return c.local->awake.contains(c.members.first()) && ranked_.contains(*c.local);
}

std::vector<const PendingQueue::Local*> PendingQueue::by_score() const {
  std::vector<const Local*> out;
  for (const auto& [id, local] : by_local_queue_) out.push_back(&local);
  std::ranges::stable_sort(out, {}, &Local::score);
  return out;
}

std::size_t PendingQueue::place(const Key& key) const {
  const Score& own = score_of(key);
  std::size_t before = 0;
  for (const auto& [id, local] : by_local_queue_) {
    if (local.score < own) before += local.all.size();
    if (local.score == own) before += local.all.position(key);
  }
  return before;
}

// Whole local queues before the page are skipped. Those of equal score are merged from their beginning.
std::vector<WorkloadId> PendingQueue::page_by_usage(std::size_t offset, std::size_t limit) const {
  std::vector<WorkloadId> out;
  if (limit == 0 || offset >= size()) return out;
  limit = std::min(limit, size() - offset);
  std::size_t skip = offset;
  if (sticky_.valid() && offset == 0) out.push_back(sticky_);
  if (sticky_.valid() && offset > 0 && place(key(sticky_)) >= offset) --skip;
  const auto locals = by_score();
  for (auto begin = locals.begin(); begin != locals.end() && out.size() < limit;) {
    const auto end = std::find_if(begin, locals.end(), [&](const Local* l) { return l->score != (*begin)->score; });
    std::size_t together = 0;
    for (auto it = begin; it != end; ++it) together += (*it)->all.size();
    if (skip >= together) {
      skip -= together;
      begin = end;
      continue;
    }
    const std::size_t wanted = skip + limit - out.size() + 1;  // one of them may be the sticky one
    std::vector<Key> merged;
    for (; begin != end; ++begin) {
      std::size_t left = wanted;
      (*begin)->all.visit(0, [&](const Key& each) { return left-- > 0 && (merged.push_back(each), true); });
    }
    std::ranges::sort(merged, Before{&slots_});
    for (std::size_t i = skip; i < merged.size() && out.size() < limit; ++i) {
      if (merged[i].workload != sticky_) out.push_back(merged[i].workload);
    }
    skip = 0;
  }
  return out;
}

}  // namespace berth::engine
