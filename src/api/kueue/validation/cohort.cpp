#include "api/kueue/validation/cohort.h"

#include "api/kueue/validation/quotas.h"

namespace berth::api::kueue {

FieldErrors validate_cohort(const Json& object) {
  FieldErrors errors;
  // A cohort also lends the unused quota of its members, so its lending limit may be above its own nominal quota.
  const QuotaRules rules{.in_cohort = !string_at(object, {"spec", "parentName"}).empty(),
                         .lending_within_nominal = false};
  check_resource_groups(object, rules, errors);
  check_fair_sharing(object, errors);
  return errors;
}

}  // namespace berth::api::kueue
