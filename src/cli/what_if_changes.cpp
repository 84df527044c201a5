#include "cli/what_if_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "api/field_error.h"
#include "api/kueue/validation/cluster_queue.h"
#include "api/kueue/validation/cohort.h"
#include "api/kueue/validation/resource_flavor.h"
#include "api/kueue/validation/workload.h"
#include "base/merge_patch.h"
#include "engine/explain/rehearsal.h"
#include "jobs/compose.h"
#include "jobs/job_adapter.h"
#include "jobs/kinds/described_job.h"
#include "jobs/kinds/job_kind.h"
#include "jobs/kinds/read/shipped.h"
#include "jobs/reconcile.h"
#include "jobs/slices.h"

namespace berth::cli {
namespace {

using engine::Event;

template <typename Seen, typename Object>
Result<Event> seen(Result<Object> object) {
  if (!object) return tl::unexpected(object.error());
  object->meta.generation = 0;  // any difference counts
  object->meta.resource_version = std::to_string(engine::Rehearsal::kNewest);
  return Seen{std::make_shared<const Object>(std::move(*object))};
}

Result<Event> seen_workload(const Json& object, Time now) {
  const JsonArray& pod_sets = array_at(object, {"spec", "podSets"});
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    if (const auto pods = int_at(pod_sets[i], {"count"}); pods < 0)
      return fail(fmt::format("spec.podSets[{}].count: {}, expected 0 or more", i, pods));
  }
  auto workload = api::kueue::decode_workload(object);
  if (!workload) return tl::unexpected(workload.error());
  if (workload->meta.uid.empty()) workload->meta.uid = "what-if-" + workload->meta.ns + "-" + workload->meta.name;
  if (workload->meta.creation == Time{}) workload->meta.creation = now;
  return seen<engine::WorkloadSeen>(Result<api::kueue::Workload>(std::move(*workload)));
}

// Kinds that can be tried and are no jobs, as applied() tells them.
bool is_of_the_cluster(std::string_view kind) {
  constexpr std::array<std::string_view, 7> kKinds = {"Node",           "ClusterQueue", "Cohort",        "LocalQueue",
                                                      "ResourceFlavor", "Topology",     "AdmissionCheck"};
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

using Events = std::vector<Event>;

Result<Events> alone(Result<Event> event) {
  if (!event) return tl::unexpected(event.error());
  return Events{std::move(*event)};
}

// The slices of an elastic job that is there (KEP-77), by creation and uid; none: it is new, or not elastic.
std::vector<jobs::WorkloadPtr> slices_of(const Json& job, const jobs::JobAdapter& adapter,
                                         const engine::Engine& engine) {
  std::vector<jobs::WorkloadPtr> out;
  const std::string_view uid = string_at(job, {"metadata", "uid"});
  if (uid.empty() || !jobs::is_elastic(adapter, job, {})) return out;
  for (const Event& event : engine.inputs()) {
    const auto* e = std::get_if<engine::WorkloadSeen>(&event);
    if (e != nullptr && jobs::is_slice(*e->object) && jobs::is_controlled_by(*e->object, uid)) out.push_back(e->object);
  }
  std::ranges::sort(out, [](const auto& a, const auto& b) {
    return std::tie(a->meta.creation, a->meta.uid) < std::tie(b->meta.creation, b->meta.uid);
  });
  return out;
}

// What follows for its slices when an elastic job gets this form. Their priorities stay.
Result<Events> resized(const jobs::JobAdapter& adapter, const Json& job, const std::vector<jobs::WorkloadPtr>& slices,
                       jobs::JobFacts facts, Time now) {
  facts.workload_priority_class =
      facts.priority_class = [&](std::string_view) { return std::optional(slices.back()->priority); };
  facts.workload = [&](std::string_view, std::string_view name) {
    const auto found = std::ranges::find_if(slices, [&](const auto& each) { return each->meta.name == name; });
    return found == slices.end() ? nullptr : *found;
  };
  facts.flavors = [](std::string_view) { return nullptr; };
  Events out;
  for (const jobs::Step& step : jobs::reconcile(adapter, std::make_shared<const Json>(job), slices, facts)) {
    Json workload;
    if (const auto* grown = std::get_if<jobs::CreateWorkload>(&step)) workload = grown->object;
    if (const auto* other = std::get_if<jobs::UpdateWorkload>(&step))
      workload = apply_merge_patch(api::kueue::encode_workload(*other->workload), other->patch);
    if (workload.is_null()) continue;
    auto event = seen_workload(workload, now);
    if (!event) return tl::unexpected(event.error());
    out.push_back(std::move(*event));
  }
  return out;
}

// The workload that a job gets, or what becomes of those of an elastic job. Priority classes count as 0.
Result<Events> seen_job(const Json& object, const engine::Engine& engine, Time now) {
  const std::string_view version = string_at(object, {"apiVersion"}), kind = string_at(object, {"kind"});
  jobs::JobFacts facts;
  facts.workload_priority_class = [](std::string_view) { return std::optional<std::int32_t>(0); };
  facts.priority_class = [](std::string_view) { return std::optional<std::int32_t>(0); };
  facts.global_default_priority_class = [] { return std::optional<std::pair<std::string, std::int32_t>>(); };
  const auto of = [&](const jobs::JobAdapter& adapter) -> Result<Events> {
    if (const auto slices = slices_of(object, adapter, engine); !slices.empty())
      return resized(adapter, object, slices, facts, now);
    auto workload = jobs::make_workload(adapter, object, facts);
    return workload ? alone(seen_workload(*workload, now)) : tl::unexpected(workload.error());
  };
  if (version == "batch/v1" && kind == "Job") {
    for (const std::string_view field : {"parallelism", "completions"}) {
      if (const auto pods = int_at(object, {"spec", field}); pods < 0)
        return fail(fmt::format("spec.{}: {}, expected 0 or more", field, pods));
    }
    return of(jobs::batch_job());
  }
  for (const auto& each : jobs::kinds::shipped_job_kinds()) {
    if (each->kind != kind || each->api_version() != version) continue;
    const jobs::kinds::DescribedJob adapter(each, [](auto&&...) { return nullptr; });
    if (const auto checked = adapter.check_pod_sets(object); !checked) return tl::unexpected(checked.error());
    return of(adapter);
  }
  return fail(fmt::format("{} of {} cannot be tried: expected a queue, flavor, topology, check, Workload, Node or job",
                          kind, version));
}

// The rules of Kueue's webhooks, as for an update that changes nothing: what an API server lets pass is tried. A client
// may also send objects that no API server has seen.
api::FieldErrors broken_rules(std::string_view kind, const Json& object) {
  using namespace api::kueue;
  if (kind == "ClusterQueue") return validate_cluster_queue(object);
  if (kind == "Cohort") return validate_cohort(object);
  if (kind == "ResourceFlavor") return validate_resource_flavor(object);
  if (kind == "Workload") return validate_workload(object);
  return {};
}

Result<Event> applied_to_cluster(std::string_view kind, const Json& object) {
  using namespace api::kueue;
  if (kind == "Node") return Event(engine::NodeSeen{std::make_shared<const api::Node>(api::decode_node(object))});
  if (kind == "ClusterQueue") return seen<engine::ClusterQueueSeen>(decode_cluster_queue(object));
  if (kind == "Cohort") return seen<engine::CohortSeen>(decode_cohort(object));
  if (kind == "LocalQueue") return seen<engine::LocalQueueSeen>(decode_local_queue(object));
  if (kind == "ResourceFlavor") return seen<engine::ResourceFlavorSeen>(decode_resource_flavor(object));
  if (kind == "Topology") return seen<engine::TopologySeen>(decode_topology(object));
  return seen<engine::AdmissionCheckSeen>(decode_admission_check(object));
}

Result<Events> applied(const Json& object, const engine::Engine& engine, Time now) {
  const std::string_view kind = string_at(object, {"kind"});
  if (string_at(object, {"metadata", "name"}).empty()) return fail("metadata.name: expected the name of an object");
  if (const auto errors = broken_rules(kind, object); !errors.empty())
    return fail(fmt::format("{} {}: {}", kind, api::object_key(object), api::to_string(errors)));
  if (is_of_the_cluster(kind)) return alone(applied_to_cluster(kind, object));
  if (kind == "Workload") return alone(seen_workload(object, now));
  return seen_job(object, engine, now);
}

// "Kind namespace/name" of each object that can be deleted.
std::set<std::string> objects_of(const engine::Engine& engine) {
  std::set<std::string> out;
  const auto add = [&](std::string_view kind, const api::ObjectMeta& meta) {
    out.insert(fmt::format("{} {}", kind, api::object_key(meta)));
  };
  for (const Event& event : engine.inputs()) {
    if (const auto* e = std::get_if<engine::ClusterQueueSeen>(&event)) add("ClusterQueue", e->object->meta);
    if (const auto* e = std::get_if<engine::CohortSeen>(&event)) add("Cohort", e->object->meta);
    if (const auto* e = std::get_if<engine::LocalQueueSeen>(&event)) add("LocalQueue", e->object->meta);
    if (const auto* e = std::get_if<engine::ResourceFlavorSeen>(&event)) add("ResourceFlavor", e->object->meta);
    if (const auto* e = std::get_if<engine::TopologySeen>(&event)) add("Topology", e->object->meta);
    if (const auto* e = std::get_if<engine::AdmissionCheckSeen>(&event)) add("AdmissionCheck", e->object->meta);
    if (const auto* e = std::get_if<engine::WorkloadSeen>(&event)) add("Workload", e->object->meta);
    if (const auto* e = std::get_if<engine::NodeSeen>(&event)) out.insert("Node " + e->object->name);
  }
  return out;
}

Result<Event> deleted(const Json& what) {
  const std::string_view kind = string_at(what, {"kind"});
  const std::string ns(string_at(what, {"namespace"})), name(string_at(what, {"name"}));
  if (name.empty()) return fail("name: expected the name of an object");
  if (kind == "Node") return Event(engine::NodeGone{name});
  if (kind == "ClusterQueue") return Event(engine::ClusterQueueGone{name});
  if (kind == "Cohort") return Event(engine::CohortGone{name});
  if (kind == "LocalQueue") return Event(engine::LocalQueueGone{ns, name});
  if (kind == "ResourceFlavor") return Event(engine::ResourceFlavorGone{name});
  if (kind == "Topology") return Event(engine::TopologyGone{name});
  if (kind == "AdmissionCheck") return Event(engine::AdmissionCheckGone{name});
  if (kind == "Workload") return Event(engine::WorkloadGone{ns, name, ""});
  return fail(
      "kind \"" + std::string(kind) +
      "\": expected ClusterQueue, Cohort, LocalQueue, ResourceFlavor, Topology, AdmissionCheck, Workload or Node");
}

}  // namespace

Result<void> check_local(const Json& what_if, std::string_view ns) {
  if (ns.empty()) return {};
  for (const std::string_view list : {"delete", "drain"}) {
    if (!array_at(what_if, {"spec", list}).empty())
      return fail(
          fmt::format("spec.{}: a LocalWhatIf tries new jobs only; ask a WhatIf, which needs the right to "
                      "create whatifs in the whole cluster",
                      list));
  }
  const auto& objects = array_at(what_if, {"spec", "apply"});
  if (objects.size() > kMaxLocalObjects)
    return fail(
        fmt::format("spec.apply: {} objects, expected at most {} in a LocalWhatIf", objects.size(), kMaxLocalObjects));
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const std::string_view kind = string_at(objects[i], {"kind"});
    if (is_of_the_cluster(kind))
      return fail(
          fmt::format("spec.apply[{}].kind: {}, expected a job or a Workload; other objects need a WhatIf", i, kind));
    const std::string_view given = string_at(objects[i], {"metadata", "namespace"});
    if (given != ns)
      return fail(fmt::format(
          "spec.apply[{}].metadata.namespace: \"{}\", expected the namespace of the LocalWhatIf, {}", i, given, ns));
    // It would say how full a queue is that the namespace has nothing to do with.
    if (kind == "Workload" && find_path(objects[i], {"status", "admission"}) != nullptr)
      return fail(fmt::format("spec.apply[{}].status.admission: expected a Workload without quota", i));
  }
  return {};
}

Result<std::vector<Event>> changes_of(const Json& what_if, const engine::Engine& engine, Time now) {
  const auto& objects = array_at(what_if, {"spec", "apply"});
  const auto& deletions = array_at(what_if, {"spec", "delete"});
  const auto& drains = array_at(what_if, {"spec", "drain"});
  if (objects.empty() && deletions.empty() && drains.empty())
    return fail("spec: expected changes in apply, delete or drain");
  if (objects.size() + deletions.size() + drains.size() > kMaxWhatIfObjects)
    return fail(fmt::format("spec: {} changes, expected at most {}", objects.size() + deletions.size() + drains.size(),
                            kMaxWhatIfObjects));
  std::vector<Event> out;
  const auto add = [&](std::string_view list, std::size_t i, Result<Events> events) -> Result<void> {
    if (!events) return fail(fmt::format("spec.{}[{}]: {}", list, i, events.error().message));
    std::ranges::move(*events, std::back_inserter(out));
    return {};
  };
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (auto added = add("apply", i, applied(objects[i], engine, now)); !added) return tl::unexpected(added.error());
  }
  const std::set<std::string> there = deletions.empty() ? std::set<std::string>() : objects_of(engine);
  for (std::size_t i = 0; i < deletions.size(); ++i) {
    const Json& what = deletions[i];
    const std::string key = fmt::format("{} {}", string_at(what, {"kind"}),
                                        api::object_key(string_at(what, {"namespace"}), string_at(what, {"name"})));
    if (auto added = add("delete", i, alone(deleted(what))); !added) return tl::unexpected(added.error());
    if (!there.contains(key)) return fail(fmt::format("spec.delete[{}]: {} does not exist", i, key));
  }
  for (std::size_t i = 0; i < drains.size(); ++i) {
    const std::string key(string_at(drains[i], {"key"})), value(string_at(drains[i], {"value"}));
    const auto nodes = engine.nodes_with(key, value);
    if (nodes.empty()) return fail(fmt::format("spec.drain[{}]: no node has the label {}={}", i, key, value));
    for (const std::string& node : nodes) out.push_back(engine::NodeGone{node});
  }
  return out;
}

}  // namespace berth::cli
