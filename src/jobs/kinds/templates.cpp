#include "jobs/kinds/templates.h"

#include <algorithm>
#include <string>
#include <utility>

#include "api/core/pod_resources.h"
#include "api/core/scheduling.h"
#include "base/planted.h"

namespace berth::jobs::kinds {
namespace {

using api::kueue::PodSet;

// Restores one member of a template from the original.
void put_back(Json& job, const Place& pod_template, const Json& original, std::string_view part,
              std::string_view member) {
  const Place place = pod_template + Path{std::string(part), std::string(member)};
  if (const Json* value = find_path(original, {part, member})) {
    if (Json* target = ensure_at(job, place)) *target = *value;
  } else {
    erase_at(job, place);
  }
}

void restore_template(Json& job, const Place& pod_template, const Json& original) {
  // An admission adds metadata to a template that has none.
  const bool had_metadata = find(original, "metadata") != nullptr;
  for (const std::string_view part : {"labels", "annotations"}) put_back(job, pod_template, original, "metadata", part);
  for (const std::string_view part : {"nodeSelector", "tolerations", "schedulingGates"})
    put_back(job, pod_template, original, "spec", part);
  const Place metadata = pod_template + Path{"metadata"};
  const Json* left = value_at(job, metadata);
  if (!had_metadata && left != nullptr && left->is_object() && left->get_object().empty()) erase_at(job, metadata);
}

// A schema that does not look into templates takes amounts with decimals (cpu: 0.5); the schema of a Workload does not.
void write_decimals_as_text(Json& pod_template) {
  for (const std::string_view list : {"initContainers", "containers"}) {
    Json* containers = const_cast<Json*>(find_path(pod_template, {"spec", list}));
    if (containers == nullptr || !containers->is_array()) continue;
    for (Json& container : containers->get_array()) {
      for (const std::string_view part : {"requests", "limits"}) {
        Json* amounts = const_cast<Json*>(find_path(container, {"resources", part}));
        if (amounts == nullptr || !amounts->is_object()) continue;
        for (auto& amount : amounts->get_object()) {
          if (!amount.value().is_double()) continue;
          if (const auto quantity = api::decode_quantity(amount.value())) amount.value() = quantity->to_string();
        }
      }
    }
  }
}

JsonObject to_object(const api::StringMap& from) {
  JsonObject out;
  for (const auto& [key, value] : from) out[key] = value;
  return out;
}

}  // namespace

JsonPtr user_template(const Json& pod_template) {
  Json result = JsonObject();
  if (const Json* metadata = find(pod_template, "metadata"); metadata != nullptr && metadata->is_object()) {
    JsonObject kept;
    for (const std::string_view part : {"labels", "annotations"}) {
      const Json* values = find(*metadata, part);
      if (values != nullptr && values->is_object()) kept[part] = *values;
    }
    result.as_object()["metadata"] = std::move(kept);  // also when it is empty: a stop restores it
  }
  if (const Json* spec = find(pod_template, "spec")) result.as_object()["spec"] = *spec;
  strip_admission(result);
  write_decimals_as_text(result);
  // The API server takes an empty list in a Workload, and refuses every pod of it; a list that is not there it refuses.
  if (const Json* containers = find_path(result, {"spec", "containers"});
      containers != nullptr && containers->is_array() && containers->get_array().empty())
    erase_path(result, {"spec", "containers"});
  return std::make_shared<const Json>(std::move(result));
}

Result<const PodSetInfo*> info_of(const std::vector<PodSetInfo>& infos, std::string_view name) {
  const auto info = std::ranges::find(infos, name, &PodSetInfo::name);
  if (info == infos.end()) return fail("the admission has no pod set " + std::string(name));
  return &*info;
}

const PodSet* original_of(const std::vector<PodSet>& original, std::string_view name) {
  const auto it = std::ranges::find(original, name, &PodSet::name);
  return it == original.end() ? nullptr : &*it;
}

JsonObject metadata_of(const PodSetInfo& info) {
  JsonObject out;
  if (!info.annotations.empty()) out["annotations"] = to_object(info.annotations);
  if (!info.labels.empty()) out["labels"] = to_object(info.labels);
  return out;
}

JsonObject spec_of(const PodSetInfo& info) {
  JsonObject out;
  if (!info.node_selector.empty()) out["nodeSelector"] = to_object(info.node_selector);
  if (!info.tolerations.empty()) out["tolerations"] = api::encode_tolerations(info.tolerations);
  JsonArray gates;
  for (const auto& gate : info.scheduling_gates) gates.push_back(JsonObject{{"name", gate}});
  if (!gates.empty()) out["schedulingGates"] = std::move(gates);
  return out;
}

Result<void> merge_infos(Json& job, const std::vector<FoundPodSet>& found, const std::vector<PodSetInfo>& infos) {
  for (const auto& one : found) {
    const auto info = info_of(infos, one.pod_set.name);
    if (!info) return tl::unexpected(info.error());
    if (one.pod_template.empty()) continue;
    if (auto merged = merge_into_template(*ensure_at(job, one.pod_template), **info); !merged) return merged;
    if (!one.count.empty() && one.pod_set.min_count && (*info)->count != one.pod_set.count)
      *ensure_at(job, one.count) = (*info)->count;
  }
  return {};
}

void restore_templates(Json& job, const std::vector<FoundPodSet>& found, const std::vector<PodSet>& original) {
  for (const auto& one : found) {
    if (one.pod_template.empty()) continue;
    const PodSet* before = original_of(original, one.pod_set.name);
    if (before != nullptr && !planted(Planted::kKeptTemplate)) {
      restore_template(job, one.pod_template, *before->template_);
      if (!one.count.empty() && before->min_count && before->count != one.pod_set.count)
        *ensure_at(job, one.count) = before->count;
    }
    // The workload may have been made from a started job.
    if (Json* pod_template = ensure_at(job, one.pod_template)) strip_admission(*pod_template);
  }
}

}  // namespace berth::jobs::kinds
