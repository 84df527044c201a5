// A copy of the engine by events: what a journal begins a segment with.
#include <memory>

#include "api/meta.h"
#include "engine/engine_impl.h"

namespace berth::engine {

namespace {

// A job's report that it stopped counts only when it is newer than the eviction. So an evicting workload is given
// twice: as the version that began the eviction, then as it is.
void inputs_of(const Tracked& t, std::vector<Event>& out) {
  if (!t.evicting_since.empty() && t.evicting_since != t.base->meta.resource_version) {
    auto before = std::make_shared<api::kueue::Workload>(*t.base);
    before->meta.resource_version = t.evicting_since;
    out.push_back(WorkloadSeen{std::move(before)});
  }
  out.push_back(WorkloadSeen{t.base});
  if (t.devices) out.push_back(DevicesCounted{t.base->meta.ns, t.base->meta.name, t.base->meta.uid, t.devices});
  if (t.report) out.push_back(JobReported{t.base->meta.ns, t.base->meta.name, *t.report});
  for (const auto& [name, state] : t.check_reports) {
    if (!t.clusters || t.clusters->check != name)
      out.push_back(CheckReported{t.base->meta.ns, t.base->meta.name, state});
    else
      out.push_back(DispatchReported{t.base->meta.ns, t.base->meta.name, t.base->meta.resource_version, state,
                                     t.clusters->cluster_name, t.clusters->nominated_cluster_names});
  }
}

}  // namespace

bool Engine::settled() const {
  if (impl_->writes.any_in_flight() || impl_->workload_events.awaits_an_end()) return false;
  bool all = true;
  impl_->workloads.for_each([&](const Tracked& t) { all = all && WorkloadWrites::settled(t); });
  return all;
}

std::vector<Event> Engine::inputs() const {
  std::vector<Event> out;
  const Registries& r = impl_->facts.registries;
  for (const auto& [name, labels] : r.namespaces) out.push_back(NamespaceSeen{name, api::decode_string_map(labels)});
  for (const auto& [ns, ranges] : r.limit_ranges) {
    for (const auto& [name, items] : ranges) out.push_back(LimitRangeSeen{ns, name, items});
  }
  for (const auto& [name, overhead] : r.runtime_classes) out.push_back(RuntimeClassSeen{name, overhead});
  for (const auto& [name, topology] : r.topologies) out.push_back(TopologySeen{topology});
  for (const auto& [name, flavor] : r.flavors) out.push_back(ResourceFlavorSeen{flavor});
  for (const auto& [name, check] : r.checks) out.push_back(AdmissionCheckSeen{check});
  for (const auto& [name, cohort] : r.cohorts) out.push_back(CohortSeen{cohort});
  for (const auto& [name, queue] : r.cluster_queues) out.push_back(ClusterQueueSeen{queue});
  for (const auto& [key, queue] : r.local_queues) out.push_back(LocalQueueSeen{queue});
  for (auto& record : impl_->scheduler.usage_records()) out.push_back(UsageRecalled{std::move(record)});
  for (const auto& [name, node] : impl_->nodes.nodes()) out.push_back(NodeSeen{node});
  for (const auto& [uid, pod] : impl_->nodes.pods()) out.push_back(PodSeen{pod});
  for (const auto& [uid, pod] : impl_->scheduled_pods.pods()) {
    if (!pod->holds_node()) out.push_back(PodSeen{pod});
  }
  for (const auto& [name, seen] : impl_->devices.nodes) out.push_back(seen);
  for (const auto& [claim, taken] : impl_->devices.taken) out.push_back(taken);
  impl_->workloads.for_each([&](const Tracked& t) { inputs_of(t, out); });
  for (const auto& workload : impl_->retention.kept()) {
    if (impl_->workloads.find(api::object_key(workload->meta)) == nullptr) out.push_back(WorkloadSeen{workload});
  }
  if (impl_->facts.synced) out.push_back(Synced{});
  return out;
}

}  // namespace berth::engine
