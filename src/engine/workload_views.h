// A workload as others look at it: as the table of states sees its situation, as it waits in the scheduler, and as it
// holds quota and places there. All follows from its decided status, the objects that it names, and the options.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "engine/engine_facts.h"
#include "engine/lifecycle/next.h"
#include "engine/queue/workload.h"
#include "engine/requested_pods.h"
#include "engine/slices.h"
#include "engine/tracked.h"

namespace berth::engine {

class WorkloadViews {
 public:
  WorkloadViews(const EngineFacts& facts, const Slices& slices) : facts_(facts), slices_(slices) {}
  // A copy that reads copies of what the other reads.
  WorkloadViews(const WorkloadViews& other, const EngineFacts& facts, const Slices& slices)
      : facts_(facts), slices_(slices), known_(other.known_) {}

  // --- For the table of states. The failed nodes are left out (FailedNodes).
  lifecycle::Situation situation(const Tracked& t) const;
  std::optional<Time> report_due(const Tracked& t) const;  // see Situation::report_due
  lifecycle::SecondPassNeed second_pass_need(const Tracked& t) const;

  // --- For the scheduler.
  lifecycle::Priority priority(const api::kueue::WorkloadRef& workload) const;
  Time queue_order_time(const Tracked& t) const;
  // What it requests; kept with the workload until its generation changes.
  const RequestedPods& requests(Tracked& t);
  std::optional<Pending> pending(Tracked& t);  // nullopt: it does not wait in a queue
  // As if it waited now; nullopt: its local queue does not exist.
  std::optional<Pending> as_if_pending(const Tracked& t) const;
  Holding holding(const Tracked& t, const api::kueue::WorkloadStatus& status) const;

  // --- Topology placement (workload_places.cpp).
  // What the pods of its admission require, with the updates of admission checks; in the order of the admission's pod
  // sets, with its counts.
  std::vector<PodSetRequest> admitted_pod_sets(const Tracked& t) const;
  // What the pods of its admission tolerate, by pod set: with the tolerations that its flavors had when it got them
  // (Tracked::flavors_then).
  std::vector<std::vector<api::Toleration>> tolerations(Tracked& t);

 private:
  std::optional<lifecycle::DeviceRefusal> devices_refused(const Tracked& t) const;
  std::string_view decides_use(const api::kueue::Admission& admission) const;
  bool is_delayed(const Tracked& former, const std::string& cluster_queue) const;
  Ptr<RequestedPods> present_requests(const Tracked& t) const;  // those kept, or computed anew
  Pending pending_with(const Tracked& t, const api::kueue::LocalQueue& local, const RequestedPods& requests) const;
  std::vector<Holding::PodSetPlaces> places(const Tracked& t, const api::kueue::WorkloadStatus& status) const;

  const EngineFacts& facts_;
  const Slices& slices_;
  std::deque<Ptr<RequestedPods>> known_;  // recently computed Asks, shared by workloads that request the same
};

// Whether the admission has a topology assignment.
bool has_places(const api::kueue::Admission& admission);

}  // namespace berth::engine
