// Workloads that pods wait for: those that were created and are not in the cache yet, and those whose names are taken.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "controller/decoded_workloads.h"
#include "controller/pod_index.h"

namespace berth::controller {

class AwaitedWorkloads {
 public:
  explicit AwaitedWorkloads(const DecodedWorkloads& cache) : cache_(cache) {}

  // The unit has a new workload with this resourceVersion.
  void created(const PodUnit& unit, std::string version) { created_[unit] = std::move(version); }
  // Whether the unit has a new workload that the cache does not show yet.
  bool hidden(const PodUnit& unit) {
    const auto it = created_.find(unit);
    if (it == created_.end()) return false;
    if (!cache_.seen(it->second)) return true;
    created_.erase(it);
    return false;
  }

  // The single pod waits for a workload with this key. It may belong to another client.
  void wait_for(const std::string& workload, const std::string& pod) { names_[workload] = pod; }
  // The pod that waits for it, which does not wait any more; nullopt: none.
  std::optional<std::string> stop_waiting(const std::string& workload) {
    const auto waits = names_.extract(workload);
    return waits ? std::optional(waits.mapped()) : std::nullopt;
  }

 private:
  const DecodedWorkloads& cache_;
  std::map<PodUnit, std::string> created_;
  // The key of the pod by the key of the workload. Bounded by the number of pods that ever waited for such a workload.
  std::map<std::string, std::string> names_;
};

}  // namespace berth::controller
