// What admission adds to the pods of a job: node labels and tolerations of the flavors, updates of admission
// checks, labels that say which queue paid, and the gate of pods whose places were decided.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/kueue/types.h"
#include "base/json.h"

namespace berth::jobs {

struct PodSetInfo {
  std::string name;
  std::int32_t count = 0;
  api::StringMap labels, annotations, node_selector;
  std::vector<api::Toleration> tolerations;
  std::vector<std::string> scheduling_gates;
};

using FlavorLookup =
    std::function<const api::kueue::ResourceFlavor*(std::string_view name)>;  // null when unknown

// What the flavors of an assignment alone ask of its pods: node labels and tolerations. Fails when a flavor is unknown,
// or when two flavors give the same label different values.
Result<PodSetInfo> flavor_info(const api::kueue::PodSetAssignment& assignment, const FlavorLookup& flavors);

// One per pod set of an admitted workload, in its order. Fails when a flavor is unknown, or when a flavor and
// a check give the same key different values.
Result<std::vector<PodSetInfo>> pod_set_infos(const api::kueue::Workload& workload,
                                              const FlavorLookup& flavors);

// Adds an info to a PodTemplateSpec. Fails, naming the key, when the template already has another value for
// it.
Result<void> merge_into_template(Json& pod_template, const PodSetInfo& info);

// Whether a PodTemplateSpec has the marks of an admission. Such a template is not what the user wrote.
bool carries_admission(const Json& pod_template);
// Takes away from such a template what can be told apart: labels, the annotation and the gate. Node selectors and
// tolerations of the flavors cannot.
void strip_admission(Json& pod_template);

}  // namespace berth::jobs
