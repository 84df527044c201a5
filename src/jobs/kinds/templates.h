// Pod templates of jobs: as the user wrote them, with what an admission adds, and restored.
#pragma once

#include <string_view>
#include <vector>

#include "api/kueue/types.h"
#include "base/json.h"
#include "jobs/kinds/pod_sets.h"
#include "jobs/pod_set_info.h"

namespace berth::jobs::kinds {

// A PodTemplateSpec as the user wrote it: labels, annotations and spec, without the marks of an admission.
JsonPtr user_template(const Json& pod_template);

// The info of a pod set. Fails when there is none.
Result<const PodSetInfo*> info_of(const std::vector<PodSetInfo>& infos, std::string_view name);
// The pod set of a workload; null when there is none.
const api::kueue::PodSet* original_of(const std::vector<api::kueue::PodSet>& original, std::string_view name);

// An info as members of a pod template's metadata and spec, without those that say nothing.
JsonObject metadata_of(const PodSetInfo& info);
JsonObject spec_of(const PodSetInfo& info);

// Adds the infos to the templates at the places of the pod sets, and writes admitted counts. Fails as
// merge_into_template() does.
Result<void> merge_infos(Json& job, const std::vector<FoundPodSet>& found, const std::vector<PodSetInfo>& infos);

// Puts the templates at the places of the pod sets back. Without the original pod sets (the workload is lost), only
// the marks of the admission are removed.
void restore_templates(Json& job, const std::vector<FoundPodSet>& found,
                       const std::vector<api::kueue::PodSet>& original);

}  // namespace berth::jobs::kinds
