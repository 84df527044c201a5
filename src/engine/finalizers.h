// The finalizer kueue.x-k8s.io/resource-in-use. It keeps an object while it is in use: a queue whose workloads hold
// quota, a flavor or check that a cluster queue names, a topology that a flavor names.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "api/kueue/types.h"
#include "engine/effects.h"
#include "engine/registries.h"
#include "engine/tracked.h"

namespace berth::engine {

// A plain value.
class Finalizers {
 public:
  void cluster_queue_seen(const api::kueue::ClusterQueue& queue);
  void cluster_queue_gone(const std::string& name);
  // The object is gone. `kind` is as in SetFinalizer.
  void object_gone(std::string_view kind, const std::string& name);

  // Says which objects get or lose the finalizer, once per version of an object. Considers the cluster queues seen
  // since the last call and the deleted ones; `configuration_changed`: and all flavors, topologies and checks.
  void emit(const Registries& registries, const TrackedWorkloads& workloads, bool configuration_changed, Effects& out);

 private:
  template <typename InUse>
  void consider(std::string_view kind, const api::ObjectMeta& meta, InUse in_use, Effects& out);

  std::set<std::string> terminating_queues_;  // deleted cluster queues that still have a finalizer
  std::set<std::string> unguarded_queues_;    // cluster queues seen since their finalizers were last considered
  std::map<std::pair<std::string, std::string>, std::pair<std::string, bool>>
      reported_;  // (kind, name) -> (version, present)
};

}  // namespace berth::engine
