// Positions of all pending workloads of a cluster queue, and their numbers by local queue.
#include <algorithm>

#include "engine/queue/pending.h"

namespace berth::engine {

PendingQueue::Local* PendingQueue::count_in(WorkloadId workload) {
  const Key own = key(workload);
  everybody_.insert(own);
  const LocalQueueId id = slots_[workload].local_queue;
  if (!id.valid() && !by_usage_) return nullptr;
  const auto [local, created] = by_local_queue_.try_emplace(id, slots_);
  local->second.all.insert(own);
  if (created) local->second.score = slots_.score(id);
  return &local->second;
}

void PendingQueue::count_out(WorkloadId workload, Local* local) {
  const Key own = key(workload);
  everybody_.erase(own);
  if (local == nullptr) return;
  local->all.erase(own);
  if (local->all.empty()) by_local_queue_.erase(slots_[workload].local_queue);
}

PendingQueue::Local* PendingQueue::local_of(const Slot& slot) {
  const auto it = by_local_queue_.find(slot.local_queue);
  return it == by_local_queue_.end() ? nullptr : &it->second;
}

void PendingQueue::fall_asleep(LocalQueueId local_queue, std::size_t workloads) {
  if (local_queue.valid() && workloads > 0) asleep_[local_queue] += workloads;
}

void PendingQueue::wake_up(LocalQueueId local_queue, std::size_t workloads) {
  const auto it = asleep_.find(local_queue);
  if (it != asleep_.end() && (it->second -= workloads) == 0) asleep_.erase(it);
}

void PendingQueue::count_members_asleep(const Class& c) {
  parked_members_ += c.members.size();
  if (by_usage_) return fall_asleep(c.key.local_queue, c.members.size());
  for (const auto& [local_queue, workloads] : c.local_queues) fall_asleep(local_queue, workloads);
}

void PendingQueue::count_members_awake(const Class& c) {
  parked_members_ -= c.members.size();
  if (by_usage_) return wake_up(c.key.local_queue, c.members.size());
  for (const auto& [local_queue, workloads] : c.local_queues) wake_up(local_queue, workloads);
}

std::size_t PendingQueue::size(LocalQueueId local_queue) const {
  const auto it = by_local_queue_.find(local_queue);
  return it == by_local_queue_.end() ? 0 : it->second.all.size();
}

std::size_t PendingQueue::asleep(LocalQueueId local_queue) const {
  const auto it = asleep_.find(local_queue);
  return it == asleep_.end() ? 0 : it->second;
}

// The sticky workload is stored at its normal position but comes first.
std::size_t PendingQueue::position(const Counted& order, bool has_sticky, WorkloadId workload) const {
  if (workload == sticky_) return 0;
  const Key own = key(workload);
  const bool overtaken = has_sticky && Before{&slots_}(own, key(sticky_));
  return order.position(own) + (overtaken ? 1 : 0);
}

std::vector<WorkloadId> PendingQueue::page(const Counted& order, bool has_sticky, std::size_t offset,
                                           std::size_t limit) const {
  std::vector<WorkloadId> out;
  if (limit == 0 || offset >= order.size()) return out;
  out.reserve(std::min(limit, order.size() - offset));
  std::size_t from = offset;
  if (has_sticky && offset == 0) out.push_back(sticky_);
  if (has_sticky && offset > 0 && order.position(key(sticky_)) >= offset) --from;
  order.visit(from, [&](const Key& each) {
    if (out.size() == limit) return false;
    if (!has_sticky || each.workload != sticky_) out.push_back(each.workload);
    return true;
  });
  return out;
}

std::size_t PendingQueue::position(WorkloadId workload) const {
  if (!by_usage_) return position(everybody_, sticky_.valid(), workload);
  if (workload == sticky_) return 0;
  const Key own = key(workload);
  return place(own) + (sticky_.valid() && precedes(own, key(sticky_)) ? 1 : 0);
}

std::size_t PendingQueue::position_in_local_queue(WorkloadId workload) const {
  const LocalQueueId local = slots_[workload].local_queue;
  const auto it = by_local_queue_.find(local);
  if (!local.valid() || it == by_local_queue_.end()) return position(workload);
  return position(it->second.all, sticky_in(local), workload);
}

std::vector<WorkloadId> PendingQueue::page(std::size_t offset, std::size_t limit) const {
  if (by_usage_) return page_by_usage(offset, limit);
  return page(everybody_, sticky_.valid(), offset, limit);
}

std::vector<WorkloadId> PendingQueue::page(LocalQueueId local_queue, std::size_t offset, std::size_t limit) const {
  const auto it = by_local_queue_.find(local_queue);
  if (it == by_local_queue_.end()) return {};
  return page(it->second.all, sticky_in(local_queue), offset, limit);
}

// Compares the positions with a fresh sort of all workloads in classes or aside.
void PendingQueue::check_positions(std::vector<std::string>& broken) const {
  std::vector<Key> keys;
  for (const auto& [class_key, id] : by_key_) {
    classes_[id.index()].members.visit(0, [&](const Key& each) { return keys.push_back(each), true; });
  }
  for (const WorkloadId each : aside_) keys.push_back(key(each));
  std::sort(keys.begin(), keys.end(), [this](const Key& a, const Key& b) {
    const bool a_sticky = a.workload == sticky_, b_sticky = b.workload == sticky_;
    return a_sticky != b_sticky ? a_sticky : precedes(a, b);
  });
  const std::vector<WorkloadId> pages = page(0, keys.size());
  std::map<LocalQueueId, std::size_t> local_positions;
  for (std::size_t i = 0; i < keys.size() && pages.size() == keys.size(); ++i) {
    const Slot& slot = slots_[keys[i].workload];
    const std::size_t local = slot.local_queue.valid() ? local_positions[slot.local_queue]++ : i;
    if (pages[i] != keys[i].workload || position(pages[i]) != i || position_in_local_queue(pages[i]) != local) {
      broken.push_back("workload " + slot.who->uid + " waits at another position than it is told");
    }
  }
  if (pages.size() != keys.size()) broken.push_back("the positions of pending workloads are not those of all");
}

}  // namespace berth::engine
