// The invariants of a queue of pending workloads.
#include "engine/queue/pending.h"

namespace berth::engine {

std::vector<std::string> PendingQueue::check() const {
  std::vector<std::string> broken;
  std::size_t members = 0, awake = 0, parked = 0;
  for (const auto& [class_key, id] : by_key_) {
    const Class& c = classes_[id.index()];
    members += c.members.size();
    awake += c.parked ? 0 : 1;
    parked += c.parked ? c.members.size() : 0;
    if (c.members.empty()) broken.push_back("a class of pending workloads is empty");
    if (!c.parked && !c.members.empty() && !evaluates(c)) {
      broken.push_back("workload " + slots_[c.members.first().workload].who->uid +
                       " is awake but would never be evaluated");
    }
    c.members.visit(0, [&](const Key& each) {
      const Slot& slot = slots_[each.workload];
      if (slot.place != Slot::Place::kQueued || slot.class_id != id)
        broken.push_back("workload " + slot.who->uid + " is queued but believes to be elsewhere");
      return true;
    });
  }
  if (!ranked_.in_order()) broken.push_back("the local queues are not ordered by usage");
  std::size_t listed = awake_.size();
  for (const auto& [id, local] : by_local_queue_) listed += local.awake.size();
  if (awake != listed) broken.push_back("the awake classes are not those that are not parked");
  if (members + aside_.size() != size() || parked != parked_members_) {
    broken.push_back("the number of pending workloads is wrong");
  }
  check_positions(broken);
  std::map<LocalQueueId, std::size_t> asleep;
  const auto count = [&](WorkloadId workload) {
    if (slots_[workload].local_queue.valid()) ++asleep[slots_[workload].local_queue];
  };
  for (const ClassId id : parked_) {
    classes_[id.index()].members.visit(0, [&](const Key& each) { return count(each.workload), true; });
  }
  for (const WorkloadId each : aside_) count(each);
  if (asleep != asleep_) broken.push_back("the number of parked workloads of a local queue is wrong");
  return broken;
}

}  // namespace berth::engine
