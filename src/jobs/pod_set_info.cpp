#include "jobs/pod_set_info.h"

#include <algorithm>

#include "api/field_error.h"

namespace berth::jobs {
namespace {

using api::StringMap;
using api::Toleration;

constexpr std::string_view kPodSetLabel = "kueue.x-k8s.io/podset";
constexpr std::string_view kClusterQueueLabel = "kueue.x-k8s.io/cluster-queue-name";
constexpr std::string_view kLocalQueueLabel = "kueue.x-k8s.io/local-queue-name";
constexpr std::string_view kWorkloadAnnotation = "kueue.x-k8s.io/workload";

Result<void> merge(StringMap& into, const StringMap& from, std::string_view what, std::string_view pod_set) {
  for (const auto& [key, value] : from) {
    const auto [it, inserted] = into.emplace(key, value);
    if (!inserted && it->second != value) {
      return fail("pod set " + std::string(pod_set) + ": " + std::string(what) + " \"" + key +
                  "\" is wanted as \"" + it->second + "\" and as \"" + value + "\"");
    }
  }
  return {};
}

void add_tolerations(std::vector<Toleration>& into, const std::vector<Toleration>& from) {
  for (const auto& toleration : from) {
    if (std::find(into.begin(), into.end(), toleration) == into.end()) into.push_back(toleration);
  }
}

// Queue names are longer than label values may be; such a name is left out (gate AssignQueueLabelsForPods).
void label_when_valid(StringMap& labels, std::string_view key, const std::string& value) {
  if (!value.empty() && api::check_label_value(value).empty()) labels.emplace(key, value);
}

Result<void> merge_strings(Json& object, std::initializer_list<std::string_view> path,
                           const StringMap& values, std::string_view what) {
  if (values.empty()) return {};
  Json& target = ensure_path(object, path);
  if (!target.is_object()) target = JsonObject();
  for (const auto& [key, value] : values) {
    if (const Json* present = target.as_object().if_contains(key)) {
      if (!present->is_string() || view(present->as_string()) != value) {
        return fail("the pod template already has the " + std::string(what) + " \"" + key +
                    "\" with another value than \"" + value + "\"");
      }
      continue;
    }
    target.as_object()[key] = value;
  }
  return {};
}

}  // namespace

Result<std::vector<PodSetInfo>> pod_set_infos(const api::kueue::Workload& workload,
                                              const FlavorLookup& flavors) {
  std::vector<PodSetInfo> infos;
  if (!workload.status.admission)
    return fail("workload " + api::object_key(workload.meta) + " has no admission");
  for (const auto& assignment : workload.status.admission->pod_set_assignments) {
    PodSetInfo info;
    info.name = assignment.name;
    info.count = assignment.count;
    info.labels.emplace(kPodSetLabel, assignment.name);
    label_when_valid(info.labels, kClusterQueueLabel, workload.status.admission->cluster_queue);
    label_when_valid(info.labels, kLocalQueueLabel, workload.queue_name);
    info.annotations.emplace(kWorkloadAnnotation, workload.meta.name);
    std::vector<std::string_view> seen;  // several resources may share a flavor
    for (const auto& [resource, flavor_name] : assignment.flavors) {
      if (std::find(seen.begin(), seen.end(), flavor_name) != seen.end()) continue;
      seen.push_back(flavor_name);
      const auto* flavor = flavors(flavor_name);
      if (flavor == nullptr) return fail("ResourceFlavor " + flavor_name + " does not exist");
      if (auto merged = merge(info.node_selector, flavor->node_labels, "the node label", info.name); !merged)
        return tl::unexpected(merged.error());
      add_tolerations(info.tolerations, flavor->tolerations);
    }
    for (const auto& check : workload.status.admission_checks) {
      for (const auto& update : check.pod_set_updates) {
        if (update.name != info.name) continue;
        for (auto merged : {merge(info.labels, update.labels, "the label", info.name),
                            merge(info.annotations, update.annotations, "the annotation", info.name),
                            merge(info.node_selector, update.node_selector, "the node label", info.name)}) {
          if (!merged)
            return tl::unexpected(Error{"admission check " + check.name + ": " + merged.error().message});
        }
        add_tolerations(info.tolerations, update.tolerations);
      }
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

Result<void> merge_into_template(Json& pod_template, const PodSetInfo& info) {
  for (auto merged :
       {merge_strings(pod_template, {"metadata", "labels"}, info.labels, "label"),
        merge_strings(pod_template, {"metadata", "annotations"}, info.annotations, "annotation"),
        merge_strings(pod_template, {"spec", "nodeSelector"}, info.node_selector, "node selector")}) {
    if (!merged) return merged;
  }
  if (!info.tolerations.empty()) {
    auto all = api::decode_tolerations(Json(array_at(pod_template, {"spec", "tolerations"})));
    add_tolerations(all, info.tolerations);
    ensure_path(pod_template, {"spec", "tolerations"}) = api::encode_tolerations(all);
  }
  return {};
}

}  // namespace berth::jobs
