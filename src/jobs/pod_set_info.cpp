#include "jobs/pod_set_info.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/field_error.h"
#include "api/kueue/names.h"
#include "api/kueue/slices.h"
#include "api/kueue/topology_annotations.h"

namespace berth::jobs {
namespace {

using api::StringMap;
using api::Toleration;

using api::kueue::kClusterQueueLabel;
using api::kueue::kElasticGate;
using api::kueue::kLocalQueueLabel;
using api::kueue::kPodSetLabel;
using api::kueue::kSliceName;
using api::kueue::kTopologyGate;
using api::kueue::kUnconstrainedTopology;
using api::kueue::kWorkloadAnnotation;

// Of workloads that the MultiKueue of another cluster made here, and of the pods of their jobs.
constexpr std::string_view kDispatchOrigin = "kueue.x-k8s.io/multikueue-origin";
constexpr std::string_view kDispatchedPod = "kueue.x-k8s.io/multikueue-worker-workload-pod";

// `what`: labels, annotations or nodeSelector.
Result<void> merge(StringMap& into, const StringMap& from, std::string_view what) {
  for (const auto& [key, value] : from) {
    const auto [it, inserted] = into.emplace(key, value);
    if (!inserted && it->second != value)
      return fail("conflict for " + std::string(what) + ": conflict for key=" + key + ", value1=" + it->second +
                  ", value2=" + value);
  }
  return {};
}

// `from` is short: that of a flavor or a check.
void add_tolerations(std::vector<Toleration>& into, const std::vector<Toleration>& from) {
  for (const auto& toleration : from) {
    if (std::find(into.begin(), into.end(), toleration) == into.end()) into.push_back(toleration);
  }
}

// Queue names can be longer than label values; such a name is left out (gate AssignQueueLabelsForPods).
void label_when_valid(StringMap& labels, std::string_view key, const std::string& value) {
  if (!value.empty() && api::check_label_value(value).empty()) labels.emplace(key, value);
}

Result<void> merge_strings(Json& object, std::initializer_list<std::string_view> path, const StringMap& values,
                           std::string_view what) {
  if (values.empty()) return {};
  Json& target = ensure_path(object, path);
  if (!target.is_object()) target = JsonObject();
  for (const auto& [key, value] : values) {
    if (const Json* present = target.as_object().if_contains(key)) {
      if (!present->is_string() || view(present->as_string()) != value) {
        const auto there = present->is_string() ? std::string(view(present->as_string())) : to_string(*present);
        return fail("the pod template already has the " + std::string(what) + " \"" + key + "\" with the value \"" +
                    there + "\", admission needs \"" + value + "\"");
      }
      continue;
    }
    target.as_object()[key] = value;
  }
  return {};
}

// Pods with a topology assignment are gated until the ungater sets their domain. A pod set that requested no topology
// is marked as unconstrained.
void add_places(const api::kueue::Workload& workload, PodSetInfo& info) {
  info.scheduling_gates.emplace_back(kTopologyGate);
  const auto pod_set = std::find_if(workload.pod_sets.begin(), workload.pod_sets.end(),
                                    [&](const auto& one) { return one.name == info.name; });
  if (pod_set != workload.pod_sets.end() &&
      !api::kueue::names_topology_mode(object_at(*pod_set->template_, {"metadata", "annotations"})))
    info.annotations.emplace(kUnconstrainedTopology, "true");
}

}  // namespace

void add_gates(Json& pod_template, const std::vector<std::string>& gates) {
  JsonArray all = array_at(pod_template, {"spec", "schedulingGates"});
  for (const auto& gate : gates) {
    const bool present =
        std::any_of(all.begin(), all.end(), [&](const Json& one) { return string_at(one, {"name"}) == gate; });
    if (!present) all.push_back(JsonObject{{"name", gate}});
  }
  ensure_path(pod_template, {"spec", "schedulingGates"}) = std::move(all);
}

Result<PodSetInfo> flavor_info(const api::kueue::PodSetAssignment& assignment, const FlavorLookup& flavors) {
  PodSetInfo info;
  info.name = assignment.name;
  info.count = assignment.count;
  std::set<std::string_view> seen;  // several resources may share a flavor
  for (const auto& [resource, flavor_name] : assignment.flavors) {
    if (!seen.insert(flavor_name).second) continue;
    const auto* flavor = flavors(flavor_name);
    if (flavor == nullptr) return fail("ResourceFlavor " + flavor_name + " does not exist");
    if (auto merged = merge(info.node_selector, flavor->node_labels, "nodeSelector"); !merged)
      return fail("in the flavors of pod set " + info.name + ": " + merged.error().message);
    add_tolerations(info.tolerations, flavor->tolerations);
  }
  return info;
}

Result<std::vector<PodSetInfo>> pod_set_infos(const api::kueue::Workload& workload, const FlavorLookup& flavors) {
  std::vector<PodSetInfo> infos;
  if (!workload.status.admission) return fail("workload " + api::object_key(workload.meta) + " has no admission");
  for (const auto& assignment : workload.status.admission->pod_set_assignments) {
    auto placed = flavor_info(assignment, flavors);
    if (!placed) return tl::unexpected(placed.error());
    PodSetInfo info = std::move(*placed);
    info.labels.emplace(kPodSetLabel, assignment.name);
    label_when_valid(info.labels, kClusterQueueLabel, workload.status.admission->cluster_queue);
    label_when_valid(info.labels, kLocalQueueLabel, workload.queue_name);
    if (workload.meta.labels.contains(std::string(kDispatchOrigin))) info.labels.emplace(kDispatchedPod, "true");
    info.annotations.emplace(kWorkloadAnnotation, workload.meta.name);
    if (const auto chain = workload.meta.annotations.find(kSliceName); chain != workload.meta.annotations.end()) {
      info.annotations.emplace(kSliceName, chain->second);
      info.scheduling_gates.emplace_back(kElasticGate);
    }
    if (assignment.topology_assignment) add_places(workload, info);
    for (const auto& check : workload.status.admission_checks) {
      for (const auto& update : check.pod_set_updates) {
        if (update.name != info.name) continue;
        for (auto merged :
             {merge(info.labels, update.labels, "labels"), merge(info.annotations, update.annotations, "annotations"),
              merge(info.node_selector, update.node_selector, "nodeSelector")}) {
          if (!merged)
            return fail("in admission check \"" + check.name +
                        "\": invalid admission check PodSetUpdate: " + merged.error().message);
        }
        add_tolerations(info.tolerations, update.tolerations);
      }
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

Result<void> merge_into_template(Json& pod_template, const PodSetInfo& info) {
  for (auto merged : {merge_strings(pod_template, {"metadata", "labels"}, info.labels, "label"),
                      merge_strings(pod_template, {"metadata", "annotations"}, info.annotations, "annotation"),
                      merge_strings(pod_template, {"spec", "nodeSelector"}, info.node_selector, "node selector")}) {
    if (!merged) return merged;
  }
  if (!info.tolerations.empty()) {
    auto all = api::decode_tolerations(Json(array_at(pod_template, {"spec", "tolerations"})));
    add_tolerations(all, info.tolerations);
    ensure_path(pod_template, {"spec", "tolerations"}) = api::encode_tolerations(all);
  }
  if (!info.scheduling_gates.empty()) add_gates(pod_template, info.scheduling_gates);
  return {};
}

bool carries_admission(const Json& pod_template) {
  return !string_at(pod_template, {"metadata", "labels", kPodSetLabel}).empty() ||
         !string_at(pod_template, {"metadata", "annotations", kWorkloadAnnotation}).empty();
}

void strip_admission(Json& pod_template) {
  if (!carries_admission(pod_template)) return;
  for (const auto label : {kPodSetLabel, kClusterQueueLabel, kLocalQueueLabel, kDispatchedPod})
    erase_path(pod_template, {"metadata", "labels", label});
  erase_path(pod_template, {"metadata", "annotations", kWorkloadAnnotation});
  erase_path(pod_template, {"metadata", "annotations", kSliceName});
  JsonArray gates;
  for (const Json& gate : array_at(pod_template, {"spec", "schedulingGates"}))
    if (string_at(gate, {"name"}) != kTopologyGate) gates.push_back(gate);
  if (gates.empty()) {
    erase_path(pod_template, {"spec", "schedulingGates"});
  } else {
    ensure_path(pod_template, {"spec", "schedulingGates"}) = std::move(gates);
  }
}

}  // namespace berth::jobs
