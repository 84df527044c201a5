// What a Workload and its status must satisfy beyond the CustomResourceDefinition's schema and rules.
#pragma once

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api::kueue {

// What gates add to the rules.
struct WorkloadRules {
  bool priority_boost = false;  // the annotation, when it is new, has to be an integer
};
FieldErrors validate_workload(const Json& object, const WorkloadRules& rules = {});
// For updates of the object and of its status. While quota is reserved pod sets do not change (those of an
// elastic job may shrink) and reclaimable pods do not become fewer; an admission is set or cleared, never
// edited, its topology aside.
FieldErrors validate_workload_update(const Json& object, const Json& old, const WorkloadRules& rules = {});

}  // namespace berth::api::kueue
