// Questions about one waiting workload, asked of a copy of the scheduler: what it lacks, and whether it would get quota
// after a change. The original is not touched.
//
// Workloads that are being evicted count as gone: their quota is about to be free. What the slice of an elastic job
// holds that the workload replaces counts as free for it: it lacks the difference only, and that slice is in nobody's
// way.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/schedule/ever.h"
#include "engine/schedule/scheduler.h"

namespace berth::engine {

class Probe {
 public:
  // What a workload waits for after it was preempted; nullopt: it does not come back.
  using Return = std::function<std::optional<Pending>(WorkloadId)>;
  Probe(const Scheduler& original, WorkloadId workload, Time now, Return comes_back);
  // Another copy of the same, as far as this one was changed. Costs less than one of the original.
  Probe copy() const { return {copy_.copy(), *this}; }

  // The copy: change it, then ask again.
  Scheduler& scheduler() { return copy_; }

  std::size_t size() const;  // workloads in this copy
  // Whether the workload waits for its evaluation in a queue that may admit: not in back-off, without a barrier.
  bool queued() const;

  // What one pod set asks of one flavor of its resource group. Without `mismatch`: one entry for each resource.
  struct Want {
    std::vector<std::string> pod_sets;  // assigned together
    std::int32_t group = -1;            // index of the resource group; -1: no group covers the resource
    std::string flavor, resource;       // flavor is empty when no group covers the resource
    std::string mismatch;               // why the pods may not run on this flavor; empty: they may
    Amount wanted, available;           // available: what the queue could still take, at most
    Amount most;                        // what the queue could take if nothing else held quota
  };
  std::vector<Want> wants();

  // The verdict of an evaluation in the present state, other waiting workloads left aside.
  struct Verdict {
    bool fits = false;              // it would get quota now
    bool preempts = false;          // it would preempt `victims`
    bool only_place_short = false;  // quota suffices, its pods find no place
    int borrowing = 0;              // height of the lowest subtree that provides everything; 0: no borrowing
    std::vector<WorkloadId> victims;
    std::string message;             // what is missing; empty: nothing
    std::string considered;          // considered_in_words(); empty: the first one fits
    std::optional<NeverFits> never;  // it does not fit with no other workload there either
    bool promising() const { return fits || preempts; }
  };
  Verdict verdict();
  bool promising();  // the same without texts
  // As if these workloads held nothing.
  bool promising_without(const std::vector<WorkloadId>& gone);

  // Who holds quota of the flavor-resource in the trees of this copy, largest amount first, then by UID.
  struct Holder {
    WorkloadId workload;
    std::string cluster_queue;
    Amount amount;
  };
  std::vector<Holder> holders(const std::string& flavor, const std::string& resource) const;
  // All requests, claims and quotas of this flavor-resource in the trees of this copy are multiples of this. At
  // least 1.
  Amount quantum(const std::string& flavor, const std::string& resource) const;
  // By preemption order within a queue, queues by name; without the slice that the workload replaces.
  std::vector<WorkloadId> all_holders() const;

  // The workload ends: it gives its quota back, and its pods are gone.
  void end(WorkloadId workload);

  // Schedules until the workload gets quota or nothing moves; victims of preemption stop at once and wait again.
  // nullopt: it does not get quota, or is preempted again.
  struct Outcome {
    std::vector<std::int32_t> counts;  // pods by pod set
    std::vector<WorkloadId> victims;   // preempted for it
  };
  std::optional<Outcome> play();
  // The workload at the head of the same StrictFIFO queue, when it is another one; invalid: none.
  WorkloadId blocked_by() const;
  // The following questions are about `workload`, which waits in the same tree.
  void ask_about(WorkloadId workload) { workload_ = workload; }

 private:
  Probe(Scheduler copy, const Probe& other)
      : copy_(std::move(copy)), workload_(other.workload_), now_(other.now_), comes_back_(other.comes_back_) {}
  void stop(WorkloadId workload);
  std::vector<WorkloadId> every_holder() const;
  void nominate(struct Entry& entry);

  Scheduler copy_;
  WorkloadId workload_;
  Time now_;
  Return comes_back_;
};

}  // namespace berth::engine
