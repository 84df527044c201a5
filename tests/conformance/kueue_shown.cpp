#include "conformance/kueue_shown.h"

#include <algorithm>
#include <string>
#include <utility>

namespace berth::conformance {
namespace {

// Labels that carry the uid of the job.
constexpr std::string_view kUidLabels[] = {"controller-uid", "batch.kubernetes.io/controller-uid"};

JsonArray sorted(JsonArray pods) {
  std::stable_sort(pods.begin(), pods.end(),
                   [](const Json& a, const Json& b) { return canonical_json(a) < canonical_json(b); });
  return pods;
}

}  // namespace

const Json& member(const Json& object, std::string_view key) {
  static const Json none;
  const Json* found = find(object, key);
  return found ? *found : none;
}

Json restricted(const Json& object, const Json& like) {
  Json result = JsonObject();
  if (!like.is_object()) return result;
  for (const auto& [key, value] : like.as_object()) {
    if (const Json* found = find(object, key)) result.as_object()[key] = *found;
  }
  return result;
}

void sort_conditions(Json& object) {
  if (find_path(object, {"status", "conditions"}) == nullptr) return;
  Json& list = ensure_path(object, {"status", "conditions"});
  if (!list.is_array()) return;
  auto& array = list.as_array();
  std::stable_sort(array.begin(), array.end(), [](const Json& a, const Json& b) {
    return string_at(a, {"type"}) < string_at(b, {"type"});
  });
}

void forget_durations(Json& workload) {
  if (find_path(workload, {"status", "accumulatedPastExecutionTimeSeconds"}) != nullptr) {
    ensure_path(workload, {"status", "accumulatedPastExecutionTimeSeconds"}) = "<n>";
  }
}

Json shown_job(const Json& job, const Json& expected) {
  Json shown_template = JsonObject();
  for (const std::string_view part : {"labels", "annotations"}) {
    JsonObject values = object_at(job, {"spec", "template", "metadata", part});
    for (const auto label : kUidLabels) values.erase(label);
    if (!values.empty() || find_path(expected, {"template", "metadata", part}) != nullptr)
      ensure_path(shown_template, {"metadata", part}) = std::move(values);
  }
  for (const std::string_view part : {"nodeSelector", "tolerations", "schedulingGates"}) {
    if (const Json* value = find_path(job, {"spec", "template", "spec", part}))
      shown_template.as_object()[part] = *value;
  }
  JsonArray conditions;
  for (const auto& condition : array_at(job, {"status", "conditions"})) {
    conditions.emplace_back(std::string(string_at(condition, {"type"})) + "=" +
                            std::string(string_at(condition, {"status"})));
  }
  const Json all = JsonObject{{"name", member(member(job, "metadata"), "name")},
                              {"suspend", member(member(job, "spec"), "suspend")},
                              {"parallelism", member(member(job, "spec"), "parallelism")},
                              {"template", std::move(shown_template)},
                              {"conditions", std::move(conditions)},
                              {"active", member(member(job, "status"), "active")}};
  return restricted(all, expected);
}

Json shown_pods(const std::vector<Json>& pods) {
  JsonArray result;
  for (const auto& pod : pods) {
    JsonObject labels;
    for (const auto& [key, value] : object_at(pod, {"metadata", "labels"})) {
      if (std::string_view(key).starts_with("kueue.x-k8s.io/")) labels[key] = value;
    }
    const Json& spec = member(pod, "spec");
    result.push_back(JsonObject{{"labels", std::move(labels)},
                                {"annotations", member(member(pod, "metadata"), "annotations")},
                                {"gates", member(spec, "schedulingGates")},
                                {"nodeSelector", member(spec, "nodeSelector")},
                                {"node", member(spec, "nodeName")},
                                {"phase", member(member(pod, "status"), "phase")}});
  }
  return sorted(std::move(result));
}

Json recorded_pods(const JsonArray& pods) {
  JsonArray result;
  for (const auto& pod : pods) {
    Json shown = JsonObject();
    for (const std::string_view part : {"labels", "annotations", "gates", "nodeSelector", "node", "phase"})
      shown.as_object()[part] = member(pod, part);
    result.push_back(std::move(shown));
  }
  return sorted(std::move(result));
}

Json shown_object(const Json& object, const Json& expected) {
  Json shown = restricted(object, expected);
  shown.as_object()["metadata"] = restricted(member(object, "metadata"), member(expected, "metadata"));
  return shown;
}

}  // namespace berth::conformance
