// Validation of a Workload and its status beyond the schema and rules of the CustomResourceDefinition.
#pragma once

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api::kueue {

// Rules that do not always apply.
struct WorkloadRules {
  bool priority_boost = false;  // a new or changed priority-boost annotation must be an integer (feature gate)
  // Negative amounts are refused where they are new. Those stored before must not block updates of other fields.
  bool pods_are_new = true;      // amounts in the templates of spec.podSets, and the key `pods`
  bool admission_is_new = true;  // amounts in status.admission
};
FieldErrors validate_workload(const Json& object, const WorkloadRules& rules = {});
// For updates of the object and of its status. While quota is reserved, pod sets must not change (those of an elastic
// job may shrink) and the counts of reclaimable pods must not fall. An admission may be set or cleared but not
// changed, except for its topology assignment.
FieldErrors validate_workload_update(const Json& object, const Json& old, const WorkloadRules& rules = {});

}  // namespace berth::api::kueue
