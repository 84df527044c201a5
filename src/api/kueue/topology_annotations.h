// Where the pods of a pod set shall be, as people ask for it: annotations of the pod template.
// https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#pragma once

#include <optional>
#include <string>

#include "api/field_error.h"
#include "api/kueue/types.h"
#include "base/json.h"

namespace berth::api::kueue {

// Everything that is wrong with the topology annotations of a pod set of `count` pods. `path` is that of the annotations.
// Beyond Kueue: slices must divide the pod set, and levels must be short enough for a Workload to name them.
void check_topology_annotations(const JsonObject& annotations, std::int64_t count, const std::string& path,
                                FieldErrors& errors);

// What the annotations ask for. Of several modes the strictest counts; what cannot be read is left out (the check above
// has told). Without annotations only the index label is set, which keeps ranks when places are implied.
TopologyRequest topology_request_of(const JsonObject& annotations, std::string_view pod_index_label);

// Whether one of the three modes (required, preferred, unconstrained) is there, whatever its value.
bool names_topology_mode(const JsonObject& annotations);

}  // namespace berth::api::kueue
