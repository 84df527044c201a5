#include "engine/finalizers.h"

#include <algorithm>

#include "base/planted.h"
#include "engine/workload_views.h"

namespace berth::engine {

void Finalizers::cluster_queue_seen(const api::kueue::ClusterQueue& queue) {
  unguarded_queues_.insert(queue.meta.name);
  if (queue.meta.deletion) {
    terminating_queues_.insert(queue.meta.name);
  } else {
    terminating_queues_.erase(queue.meta.name);
  }
}

void Finalizers::cluster_queue_gone(const std::string& name) {
  object_gone("ClusterQueue", name);
  terminating_queues_.erase(name);
  unguarded_queues_.erase(name);
}

void Finalizers::object_gone(std::string_view kind, const std::string& name) {
  reported_.erase({std::string(kind), name});
}

template <typename InUse>
void Finalizers::consider(std::string_view kind, const api::ObjectMeta& meta, InUse in_use, Effects& out) {
  const bool has = std::ranges::find(meta.finalizers, api::kueue::kFinalizer) != meta.finalizers.end();
  const bool shall = !meta.deletion || (has && in_use());
  if (has == shall) return;
  auto& reported = reported_[{std::string(kind), meta.name}];
  if (reported == std::pair(meta.resource_version, shall)) return;
  reported = {meta.resource_version, shall};
  out.push_back(SetFinalizer{std::string(kind), meta.name, shall});
}

void Finalizers::emit(const Registries& registries, const TrackedWorkloads& workloads, bool configuration_changed,
                      Effects& out) {
  auto queues = std::exchange(unguarded_queues_, {});
  queues.insert(terminating_queues_.begin(), terminating_queues_.end());
  for (const auto& name : queues) {
    const auto holds_quota = [&] {
      bool in_use = false;
      workloads.for_each_in_cluster_queue(name,
                                          [&](const Tracked& t) { in_use = in_use || holding_status(t) != nullptr; });
      return in_use;
    };
    consider("ClusterQueue", registries.cluster_queue(name)->meta, holds_quota, out);
  }
  if (!configuration_changed) return;
  for (const auto& [name, flavor] : registries.flavors) {
    const auto in_use = [&] { return registries.flavor_in_use(name) || planted(Planted::kKeptFinalizer); };
    consider("ResourceFlavor", flavor->meta, in_use, out);
  }
  for (const auto& [name, topology] : registries.topologies) {
    const auto in_use = [&] { return registries.topology_in_use(name); };
    consider("Topology", topology->meta, in_use, out);
  }
  for (const auto& [name, check] : registries.checks) {
    const auto in_use = [&] { return registries.check_in_use(name); };
    consider("AdmissionCheck", check->meta, in_use, out);
  }
}

}  // namespace berth::engine
