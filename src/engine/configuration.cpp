#include "engine/configuration.h"

#include <utility>
#include <vector>

#include "api/meta.h"

namespace berth::engine {

namespace {

// Every status write of a queue is seen again; decisions do not depend on it. metadata.generation counts changes of
// the spec; when it is 0 (not maintained), any change counts.
bool says_more_than_status(const api::ObjectMeta& known, const api::ObjectMeta& seen) {
  if (seen.generation == 0) return true;
  api::ObjectMeta same = seen;
  same.resource_version = known.resource_version;
  return same != known;
}

}  // namespace

void Configuration::on(const ClusterQueueSeen& e) {
  auto& known = facts_.registries.cluster_queues[e.object->meta.name];
  const bool news = !known || says_more_than_status(known->meta, e.object->meta);
  known = e.object;
  finalizers_.cluster_queue_seen(*e.object);
  if (!news) return;
  changes_.queues.insert(e.object->meta.name);
  changes_.any = true;
}

void Configuration::on(const ClusterQueueGone& e) {
  if (facts_.registries.cluster_queues.erase(e.name) == 0) return;
  finalizers_.cluster_queue_gone(e.name);
  changes_.queues.insert(e.name);
  changes_.any = true;
}

void Configuration::on(const CohortSeen& e) {
  auto& known = facts_.registries.cohorts[e.object->meta.name];
  const bool news = !known || says_more_than_status(known->meta, e.object->meta);
  known = e.object;
  if (!news) return;
  scheduler_.set_cohort(*e.object);
  changes_.any = changes_.rules = true;
}

void Configuration::on(const CohortGone& e) {
  if (facts_.registries.cohorts.erase(e.name) == 0) return;
  scheduler_.remove_cohort(e.name);
  changes_.any = changes_.rules = true;
}

void Configuration::on(const LocalQueueSeen& e) {
  const std::string key = api::object_key(e.object->meta);
  const auto* known = facts_.registries.local_queue(key);
  const bool news = known == nullptr || says_more_than_status(known->meta, e.object->meta);
  see_usage(known, *e.object);
  facts_.registries.set_local_queue(e.object);
  if (!news) return;
  reports_.touch_local_queue(key);
  workloads_.mark_local_queue(key);
}

// While this engine leads, it knows better than the statuses, which it wrote itself.
void Configuration::see_usage(const api::kueue::LocalQueue* known, const api::kueue::LocalQueue& seen) {
  if (!scheduler_.usage().on()) return;
  const std::string key = api::object_key(seen.meta);
  if (known != nullptr && known->meta.uid != seen.meta.uid) scheduler_.remove_local_queue(key);
  const auto* sample = scheduler_.usage_sample(key);
  Scheduler::LocalQueueUsage usage{key, seen.cluster_queue, seen.fair_weight.fraction(), seen.meta.creation, {}};
  const bool reports =
      seen.past_usage && (sample == nullptr || (!facts_.synced && sample->at != seen.past_usage->last_update));
  if (reports) usage.past = {seen.past_usage->consumed, seen.past_usage->last_update};
  scheduler_.set_local_queue(usage);
}

void Configuration::on(const LocalQueueGone& e) {
  const std::string key = api::object_key(e.ns, e.name);
  if (facts_.registries.local_queue(key) == nullptr) return;
  scheduler_.remove_local_queue(key);
  facts_.registries.remove_local_queue(key);
  workloads_.mark_local_queue(key);
}

void Configuration::on(const ResourceFlavorSeen& e) {
  const auto before = std::exchange(facts_.registries.flavors[e.object->meta.name], e.object);
  scheduler_.set_flavor(*e.object);
  changes_.any = changes_.rules = true;
  // Look again at the workloads with places on its nodes.
  if (before && before->topology_name == e.object->topology_name && before->tolerations == e.object->tolerations)
    return;
  for (auto& name : facts_.registries.queues_with_flavor(e.object->meta.name)) changes_.queues.insert(std::move(name));
}

void Configuration::on(const ResourceFlavorGone& e) {
  if (facts_.registries.flavors.erase(e.name) == 0) return;
  finalizers_.object_gone("ResourceFlavor", e.name);
  scheduler_.remove_flavor(e.name);
  changes_.any = changes_.rules = true;
}

void Configuration::on(const AdmissionCheckSeen& e) {
  facts_.registries.checks[e.object->meta.name] = e.object;
  changes_.any = changes_.rules = true;
}

void Configuration::on(const AdmissionCheckGone& e) {
  if (facts_.registries.checks.erase(e.name) == 0) return;
  finalizers_.object_gone("AdmissionCheck", e.name);
  changes_.any = changes_.rules = true;
}

void Configuration::on(const NamespaceSeen& e) {
  JsonObject labels;
  for (const auto& [key, value] : e.labels) labels[key] = value;
  facts_.registries.namespaces[e.name] = std::move(labels);
  mark_namespace(e.name, false);
}

void Configuration::on(const NamespaceGone& e) {
  facts_.registries.namespaces.erase(e.name);
  mark_namespace(e.name, false);
}

void Configuration::on(const LimitRangeSeen& e) {
  facts_.registries.limit_ranges[e.ns][e.name] = e.items;
  mark_namespace(e.ns, true);
}

void Configuration::on(const LimitRangeGone& e) {
  const auto it = facts_.registries.limit_ranges.find(e.ns);
  if (it == facts_.registries.limit_ranges.end() || it->second.erase(e.name) == 0) return;
  mark_namespace(e.ns, true);
}

void Configuration::on(const RuntimeClassSeen& e) {
  facts_.registries.runtime_classes[e.name] = e.overhead;
  mark_namespace("", true);
}

void Configuration::on(const RuntimeClassGone& e) {
  if (facts_.registries.runtime_classes.erase(e.name) != 0) mark_namespace("", true);
}

// "" means all namespaces. `pods_changed`: what a workload requests must be computed again.
void Configuration::mark_namespace(std::string_view ns, bool pods_changed) {
  std::vector<Tracked*> found;
  workloads_.for_each([&](Tracked& t) {
    if (ns.empty() || t.base->meta.ns == ns) found.push_back(&t);
  });
  for (Tracked* t : found) {
    if (pods_changed) t->requests.reset();
    workloads_.mark(*t);
  }
}

void Configuration::on(const TopologySeen& e) {
  facts_.registries.topologies[e.object->meta.name] = e.object;
  scheduler_.set_topology(*e.object);
  changes_.any = changes_.rules = true;
}

void Configuration::on(const TopologyGone& e) {
  if (facts_.registries.topologies.erase(e.name) == 0) return;
  finalizers_.object_gone("Topology", e.name);
  scheduler_.remove_topology(e.name);
  changes_.any = changes_.rules = true;
}

void Configuration::reconsider_all() {
  changes_.any = changes_.rules = true;
  mark_namespace("", false);
}

void Configuration::refresh() {
  if (!changes_.any) return;
  auto derived = std::exchange(changes_.rules, false) ? facts_.registries.refresh_all()
                                                      : facts_.registries.refresh(changes_.queues);
  for (auto& name : derived) changes_.queues.insert(std::move(name));
  for (const auto& name : std::exchange(changes_.queues, {})) {
    if (const auto* queue = facts_.registries.cluster_queue(name)) {
      scheduler_.set_cluster_queue(*queue, facts_.registries.activity(*queue).active,
                                   facts_.registries.delayed_flavors(*queue));
    } else {
      scheduler_.remove_cluster_queue(name);
    }
    workloads_.mark_cluster_queue(name);
    reports_.touch_cluster_queue(name);
    reports_.touch_local_queues_of(name);
  }
  reports_.touch_shares();
}

}  // namespace berth::engine
