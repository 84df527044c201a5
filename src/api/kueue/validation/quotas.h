// What ClusterQueues and Cohorts have in common: quotas, limits and weights.
#pragma once

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api::kueue {

struct QuotaRules {
  bool in_cohort = false;               // limits are for members of a cohort only
  bool lending_within_nominal = false;  // a ClusterQueue cannot lend more than it has
};

// spec.resourceGroups: every resource and flavor in one group, quotas in the order of the covered resources,
// none negative, at most 256 flavors and 256 resources in all and 512 pairs of them in one group.
void check_resource_groups(const Json& object, const QuotaRules& rules, FieldErrors& errors);
// spec.fairSharing.weight: 0 or more than 10^-9.
void check_fair_sharing(const Json& object, FieldErrors& errors);

}  // namespace berth::api::kueue
