// A workload with a status that need not be its own: what was decided about it and is not written yet.
#pragma once

#include "api/kueue/types.h"

namespace berth::api::kueue {

// Refers to both arguments, which must outlive it. Members as in Workload.
struct WorkloadRef {
  WorkloadRef(const Workload& workload) : WorkloadRef(workload, workload.status) {}
  WorkloadRef(const Workload& workload, const WorkloadStatus& other)
      : meta(workload.meta),
        pod_sets(workload.pod_sets),
        queue_name(workload.queue_name),
        priority_class_ref(workload.priority_class_ref),
        priority(workload.priority),
        active(workload.active),
        maximum_execution_time_seconds(workload.maximum_execution_time_seconds),
        preemption_gates(workload.preemption_gates),
        status(other) {}

  const ObjectMeta& meta;
  const std::vector<PodSet>& pod_sets;
  const std::string& queue_name;
  const std::optional<PriorityClassRef>& priority_class_ref;
  std::int32_t priority;
  bool active;
  std::optional<std::int32_t> maximum_execution_time_seconds;
  const std::vector<std::string>& preemption_gates;
  const WorkloadStatus& status;

  bool refers_to_same(const WorkloadRef& other) const { return &meta == &other.meta && &status == &other.status; }
};

}  // namespace berth::api::kueue
