// Groups of two pod sets that are placed together: a leader and its workers.
// https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#pragma once

#include <string>
#include <vector>

#include "api/field_error.h"
#include "jobs/kinds/pod_sets.h"

namespace berth::jobs::kinds {

// The path of the annotations of a pod set's template, as errors name it.
std::string annotations_path(const FoundPodSet& found);

// Appends an error for each pod set of a group that is no pair, has no pod set of one pod, or asks for two places.
void check_pod_set_groups(const std::vector<FoundPodSet>& found, api::FieldErrors& errors);

}  // namespace berth::jobs::kinds
