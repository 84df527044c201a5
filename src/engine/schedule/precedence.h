// Who preempted whom, so that workloads do not preempt each other in turn without end: the policies of two queues may
// allow both directions. A workload does not preempt
// - those that preempted it, those that preempted these, and so on;
// - those that it preempted itself and that were admitted again before it.
// So preemptions come to an end: a workload that is preempted again and again would need a preemptor that is, too, and
// these would form a circle.
//
// This holds while nothing else changes in the tree of cohorts. When a workload there ends, or quota or a policy
// changes, the tree's history is forgotten, and everything the policies allow is allowed again.
//
// After a restart, the messages of waiting workloads tell whom they spare (protected_words.h).
#pragma once

#include <map>
#include <span>
#include <vector>

#include "engine/quota/ids.h"

namespace berth::engine {

class Precedence {
 public:
  // `root`: of the tree in which both are.
  void note(QuotaNodeId root, WorkloadId preemptor, WorkloadId victim);
  // A message from before a restart says so: the workload spares the other one, until it is admitted.
  void recall(QuotaNodeId root, WorkloadId workload, WorkloadId protected_victims);
  // The workload got what it preempted others for.
  void note_admitted(QuotaNodeId root, WorkloadId workload);
  // Those that it preempted, if it was not admitted since.
  std::span<const WorkloadId> victims(QuotaNodeId root, WorkloadId workload) const;
  // Those that preempted it, directly or through others; sorted by id, mostly empty.
  std::vector<WorkloadId> above(QuotaNodeId root, WorkloadId workload) const;
  // Those that it may not preempt; sorted by id, each once, mostly empty.
  std::vector<WorkloadId> protected_victims(QuotaNodeId root, WorkloadId workload) const;
  // Forgets the tree. Returns the workloads that its history names, sorted by id.
  std::vector<WorkloadId> forget(QuotaNodeId root);
  std::vector<WorkloadId> forget_all();
  bool empty() const { return trees_.empty(); }

 private:
  using Workloads = std::map<WorkloadId, std::vector<WorkloadId>>;
  struct Tree {
    Workloads preemptors;  // by victim
    Workloads victims;     // by preemptor that was not admitted since; and what was recalled
  };
  std::map<QuotaNodeId, Tree> trees_;  // by root
};

}  // namespace berth::engine
