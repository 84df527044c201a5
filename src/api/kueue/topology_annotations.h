// The topology request of a pod set: annotations of the pod template.
// https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#pragma once

#include <optional>
#include <string>

#include "api/field_error.h"
#include "api/kueue/types.h"
#include "base/json.h"

namespace berth::api::kueue {

// Appends all errors in the topology annotations of a pod set with `count` pods (nullopt: not known yet). `path` is the
// path of the annotations. Stricter than Kueue: names of levels must be short enough for a Workload.
void check_topology_annotations(const JsonObject& annotations, std::optional<std::int64_t> count,
                                const std::string& path, FieldErrors& errors);

// Gate TASRejectFalseUnconstrainedTopology: appends an error when the annotation for unconstrained topology says no,
// and did not so in `before`, the annotations before an update (null: a new object).
void check_unconstrained_flag(const JsonObject& annotations, const JsonObject* before, const std::string& path,
                              FieldErrors& errors);

// The request in the annotations. Of several modes the strictest counts; invalid values are left out (the check above
// reports them). Without annotations only the index label is set: it keeps ranks when a topology is implied.
TopologyRequest topology_request_of(const JsonObject& annotations, std::string_view pod_index_label);

// Whether one of the three modes (required, preferred, unconstrained) is present, with any value.
bool names_topology_mode(const JsonObject& annotations);

}  // namespace berth::api::kueue
