// What the reconciliation of a job looks up: settings, classes, flavors and workloads. All of it comes from
// caches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/kueue/types.h"
#include "jobs/pod_set_info.h"

namespace berth::jobs {

using WorkloadPtr = std::shared_ptr<const api::kueue::Workload>;

// Kueue's feature gates that concern jobs and their workloads; defaults as Kueue's.
struct JobGates {
  // FinishOrphanedWorkloads: the workload of a job that is gone is finished. Off: it only loses its
  // finalizer.
  bool finish_orphaned = true;
  // WorkloadIdentifierAnnotations: an annotation may name a prebuilt workload, and comes before the label.
  bool identifier_annotations = true;
};

struct JobFacts {
  bool managed = true;  // its namespace is selected, it has a queue, and no managed owner
  JobGates gates;
  FlavorLookup flavors;
  std::vector<std::string> label_keys_to_copy;  // of the job, to a workload that is made
  // By name; nullopt when there is no such class.
  std::function<std::optional<std::int32_t>(std::string_view)> workload_priority_class;
  std::function<std::optional<std::int32_t>(std::string_view)> priority_class;
  std::function<std::optional<std::pair<std::string, std::int32_t>>()>
      global_default_priority_class;  // name and value
  // A workload by namespace and name, whoever it belongs to; null when there is none.
  std::function<WorkloadPtr(std::string_view ns, std::string_view name)> workload;
};

}  // namespace berth::jobs
