#include "engine/schedule/candidate_policy.h"

#include <algorithm>

namespace berth::engine {

using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;

bool CandidatePolicy::within_nominal(QuotaNodeId node) const {
  ++steps_;
  return std::none_of(short_ids_.begin(), short_ids_.end(),
                      [&](FlavorResourceId id) { return ledger_.borrowing_with(node, id, Amount()); });
}

bool CandidatePolicy::uses_short_ids(WorkloadId workload) const {
  const Claim* claim = ledger_.claim(workload);
  return claim != nullptr && !ledger_.supposed_out(workload) &&
         std::any_of(claim->usage.begin(), claim->usage.end(), [&](const FlavorResourceAmount& each) {
           return std::find(short_ids_.begin(), short_ids_.end(), each.id) != short_ids_.end();
         });
}

bool CandidatePolicy::too_important(bool own, const HolderKey& holder) const {
  if (!own) {
    return preemptor_.config->reclaim_within_cohort == ReclaimWithinCohort::kLowerPriority &&
           holder.priority >= preemptor_.priority;
  }
  if (preemptor_.config->within_cluster_queue == WithinClusterQueue::kLowerPriority)
    return holder.priority >= preemptor_.priority;
  return holder.priority > preemptor_.priority;
}

bool CandidatePolicy::allows(bool own, const HolderKey& holder) const {
  return ever_allows(own, holder) && uses_short_ids(holder.workload);
}

bool CandidatePolicy::ever_allows(bool own, const HolderKey& holder) const {
  ++steps_;
  if (too_important(own, holder)) return false;
  // One that is being evicted gives its quota back anyway.
  if (!holder.evicted && std::ranges::binary_search(preemptor_.spares, holder.workload)) return false;
  // At equal priority, only workloads that queued later may be preempted.
  return !own || holder.priority < preemptor_.priority || preemptor_.queued_at < slots_[holder.workload].queued_at;
}

}  // namespace berth::engine
