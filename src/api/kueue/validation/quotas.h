// Validation that ClusterQueues and Cohorts share: quotas, limits and weights.
#pragma once

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api::kueue {

struct QuotaRules {
  bool in_cohort = false;               // false: borrowing and lending limits are not allowed
  bool lending_within_nominal = false;  // true: the lending limit is at most the nominal quota
};

// spec.resourceGroups: each resource and flavor is in one group only; quotas are in the order of the covered
// resources and not negative; at most 256 flavors and 256 resources in total, and 512 pairs of both in one group.
void check_resource_groups(const Json& object, const QuotaRules& rules, FieldErrors& errors);
// spec.fairSharing.weight: 0 or more than 10^-9.
void check_fair_sharing(const Json& object, FieldErrors& errors);

}  // namespace berth::api::kueue
