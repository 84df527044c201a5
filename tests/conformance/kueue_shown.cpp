#include "conformance/kueue_shown.h"

#include <algorithm>
#include <string>
#include <utility>

namespace berth::conformance {
namespace {

// Labels that hold the UID of the job.
constexpr std::string_view kUidLabelNames[] = {"controller-uid", "batch.kubernetes.io/controller-uid"};

JsonArray sorted(JsonArray pods) {
  // On one side, the times of conditions are placeholders.
  const auto key = [](Json pod) {
    pod.as_object().erase("conditions");
    return canonical_json(pod);
  };
  std::stable_sort(pods.begin(), pods.end(), [&](const Json& a, const Json& b) { return key(a) < key(b); });
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
  std::stable_sort(array.begin(), array.end(),
                   [](const Json& a, const Json& b) { return string_at(a, {"type"}) < string_at(b, {"type"}); });
}

void sort_owners(Json& metadata) {
  Json* owners = metadata.as_object().if_contains("ownerReferences");
  if (owners == nullptr) return;
  auto& list = owners->as_array();
  std::stable_sort(list.begin(), list.end(),
                   [](const Json& a, const Json& b) { return string_at(a, {"name"}) < string_at(b, {"name"}); });
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
    for (const auto label : kUidLabelNames) values.erase(label);
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
                              {"active", member(member(job, "status"), "active")},
                              {"completions", member(member(job, "spec"), "completions")},
                              {"metadata", own_metadata(job)}};
  Json shown = restricted(all, expected);
  if (find(expected, "metadata") != nullptr) shown.as_object()["metadata"].as_object().erase("name");
  return shown;
}

Json own_metadata(const Json& object) {
  const Json& metadata = member(object, "metadata");
  Json shown = JsonObject();
  for (const std::string_view part : {"name", "labels", "annotations", "finalizers", "ownerReferences"}) {
    if (const Json* value = find(metadata, part)) shown.as_object()[part] = *value;
  }
  sort_owners(shown);
  return shown;
}

namespace {

// Without the tolerations for nodes that are not ready: each pod has them.
JsonArray own_tolerations(const Json& spec) {
  JsonArray own;
  for (const Json& toleration : array_at(spec, {"tolerations"})) {
    const auto key = string_at(toleration, {"key"});
    if (key != "node.kubernetes.io/not-ready" && key != "node.kubernetes.io/unreachable") own.push_back(toleration);
  }
  return own;
}

// The additional parts in newer recordings, each only if it is not empty.
void add_rest(Json& shown, const Json& pod) {
  Json status = JsonObject{{"status", member(pod, "status")}};
  sort_conditions(status);
  if (find_path(status, {"status", "conditions"}) != nullptr) {
    for (Json& condition : ensure_path(status, {"status", "conditions"}).as_array())
      condition.as_object().erase("lastProbeTime");
  }
  const auto add = [&shown](std::string_view part, const JsonArray& values) {
    if (!values.empty()) shown.as_object()[part] = values;
  };
  add("finalizers", array_at(pod, {"metadata", "finalizers"}));
  add("tolerations", own_tolerations(member(pod, "spec")));
  add("conditions", array_at(status, {"status", "conditions"}));
  if (find_path(pod, {"metadata", "deletionTimestamp"}) != nullptr) shown.as_object()["deleting"] = true;
}

}  // namespace

Json shown_pods(const std::vector<Json>& pods, bool whole) {
  JsonArray result;
  for (const auto& pod : pods) {
    JsonObject labels;
    for (const auto& [key, value] : object_at(pod, {"metadata", "labels"})) {
      if (std::string_view(key).starts_with("kueue.x-k8s.io/")) labels[key] = value;
    }
    const Json& spec = member(pod, "spec");
    Json shown = JsonObject{{"labels", std::move(labels)},
                            {"annotations", member(member(pod, "metadata"), "annotations")},
                            {"gates", member(spec, "schedulingGates")},
                            {"nodeSelector", member(spec, "nodeSelector")},
                            {"node", member(spec, "nodeName")},
                            {"phase", member(member(pod, "status"), "phase")}};
    if (whole) add_rest(shown, pod);
    result.push_back(std::move(shown));
  }
  return sorted(std::move(result));
}

Json recorded_pods(const JsonArray& pods, bool whole) {
  JsonArray result;
  for (const auto& pod : pods) {
    Json shown = JsonObject();
    for (const std::string_view part : {"labels", "annotations", "gates", "nodeSelector", "node", "phase"})
      shown.as_object()[part] = member(pod, part);
    for (const std::string_view part : {"finalizers", "tolerations", "conditions", "deleting"}) {
      if (const Json* value = whole ? find(pod, part) : nullptr) shown.as_object()[part] = *value;
    }
    result.push_back(std::move(shown));
  }
  return sorted(std::move(result));
}

namespace {

// Of the pod templates in a value, the recordings show labels, annotations, node selector, tolerations, gates and a
// priority class.
Json with_short_templates(const Json& value) {
  Json out = value;
  if (const Json* spec = find(value, "spec"); spec != nullptr && find(*spec, "containers") != nullptr) {
    out = JsonObject{{"metadata", JsonObject()}, {"spec", JsonObject()}};
    for (const std::string_view part : {"labels", "annotations"}) {
      if (const Json* shown = find_path(value, {"metadata", part})) ensure_path(out, {"metadata", part}) = *shown;
    }
    for (const std::string_view part : {"nodeSelector", "tolerations", "schedulingGates"})
      ensure_path(out, {"spec", part}) = member(*spec, part);
    if (const Json* priority = find(*spec, "priorityClassName"))
      ensure_path(out, {"spec", "priorityClassName"}) = *priority;
  } else if (auto* object = out.if_object()) {
    for (auto& [key, item] : *object) item = with_short_templates(item);
  } else if (auto* array = out.if_array()) {
    for (auto& item : *array) item = with_short_templates(item);
  }
  return out;
}

}  // namespace

Json without_empty_objects(const Json& value) {
  Json out = value;
  if (auto* object = out.if_object()) {
    *object = JsonObject();
    for (const auto& [key, item] : value.get_object()) {
      if (!item.is_object() || !item.get_object().empty()) (*object)[key] = without_empty_objects(item);
    }
  } else if (auto* array = out.if_array()) {
    for (auto& item : *array) item = without_empty_objects(item);
  }
  return out;
}

Json shown_object(const Json& object, const Json& expected) {
  Json shown = restricted(object, expected);
  shown.as_object()["metadata"] = restricted(member(object, "metadata"), member(expected, "metadata"));
  return shown;
}

Json shown_owner(const Json& object, const Json& expected) {
  Json shown = restricted(object, expected);
  shown.as_object()["metadata"] = own_metadata(object);
  if (Json* spec = shown.as_object().if_contains("spec")) *spec = without_empty_objects(with_short_templates(*spec));
  if (string_at(object, {"apiVersion"}) == "apps/v1" && find(expected, "status") != nullptr) {
    shown.as_object()["status"] =
        restricted(member(object, "status"),
                   JsonObject{{"replicas", nullptr}, {"readyReplicas", nullptr}, {"availableReplicas", nullptr}});
  }
  return shown;
}

}  // namespace berth::conformance
