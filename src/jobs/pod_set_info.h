// What admission adds to the pods of a job: node labels and tolerations of the flavors, updates of admission checks,
// labels with the names of the queues, and the scheduling gate of pods with a topology assignment.
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

using FlavorLookup = std::function<const api::kueue::ResourceFlavor*(std::string_view name)>;  // null when unknown

// What the flavors of an assignment alone require: node labels and tolerations. Fails when a flavor does not exist,
// or when two flavors give the same label different values.
Result<PodSetInfo> flavor_info(const api::kueue::PodSetAssignment& assignment, const FlavorLookup& flavors);

// One info per pod set of an admitted workload, in the order of its assignments. Fails when the workload has no
// admission, when a flavor does not exist, or when flavors and checks give the same key different values.
Result<std::vector<PodSetInfo>> pod_set_infos(const api::kueue::Workload& workload, const FlavorLookup& flavors);

// Adds an info to a PodTemplateSpec. Fails when the template already has another value for a key; the error names the
// key.
Result<void> merge_into_template(Json& pod_template, const PodSetInfo& info);

// Adds those scheduling gates that the PodTemplateSpec does not have.
void add_gates(Json& pod_template, const std::vector<std::string>& gates);

// Whether a PodTemplateSpec has the label or the annotation of an admission. Such a template is not what the user
// wrote.
bool carries_admission(const Json& pod_template);
// Removes what is certainly from an admission: Kueue's three labels, the annotations that name workloads, and the
// topology gate. Everything else that admission added (node selectors, tolerations, other labels and annotations) looks
// like the user's own, so it stays.
void strip_admission(Json& pod_template);

}  // namespace berth::jobs
