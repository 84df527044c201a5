#include "api/kueue/validation/cluster_queue.h"

#include <algorithm>

#include "api/core/validation.h"
#include "api/kueue/validation/quotas.h"

namespace berth::api::kueue {
namespace {

// The names of all flavors, in the order in which they are written.
std::vector<std::string_view> flavor_names(const Json& object) {
  std::vector<std::string_view> names;
  for (const Json& group : array_at(object, {"spec", "resourceGroups"}))
    for (const Json& flavor : array_at(group, {"flavors"})) names.push_back(string_at(flavor, {"name"}));
  return names;
}

void check_preemption(const Json& object, FieldErrors& errors) {
  const Json* preemption = find_path(object, {"spec", "preemption"});
  if (!preemption) return;
  const std::string_view borrow = string_at(*preemption, {"borrowWithinCohort", "policy"}, "Never");
  if (string_at(*preemption, {"reclaimWithinCohort"}, "Never") == "Never" && borrow != "Never")
    errors.push_back(invalid_value("spec.preemption", *preemption,
                                   "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never"));
}

void check_fungibility(const Json& object, FieldErrors& errors) {
  const Json* fungibility = find_path(object, {"spec", "flavorFungibility"});
  if (!fungibility || string_at(*fungibility, {"preference"}).empty()) return;
  const bool both_try_next = string_at(*fungibility, {"whenCanBorrow"}, "MayStopSearch") == "TryNextFlavor" &&
                             string_at(*fungibility, {"whenCanPreempt"}, "TryNextFlavor") == "TryNextFlavor";
  if (!both_try_next)
    errors.push_back(
        invalid_value("spec.flavorFungibility", *fungibility,
                      "preference can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor"));
}

void check_on_flavors(const Json& object, FieldErrors& errors) {
  const std::vector<std::string_view> known = flavor_names(object);
  const JsonArray& checks = array_at(object, {"spec", "admissionChecksStrategy", "admissionChecks"});
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const JsonArray& flavors = array_at(checks[i], {"onFlavors"});
    for (std::size_t f = 0; f < flavors.size(); ++f) {
      const std::string_view name = flavors[f].is_string() ? view(flavors[f].get_string()) : std::string_view();
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string path = index_path("spec.admissionChecksStrategy.admissionChecks", i);
      errors.push_back(not_supported(index_path(path + ".onFlavors", f), flavors[f], known));
    }
  }
}

}  // namespace

FieldErrors validate_cluster_queue(const Json& object) {
  FieldErrors errors;
  const QuotaRules rules{.in_cohort = !string_at(object, {"spec", "cohortName"}).empty(),
                         .lending_within_nominal = true};
  check_resource_groups(object, rules, errors);
  if (const Json* selector = find_path(object, {"spec", "namespaceSelector"}))
    check_label_selector(*selector, "spec.namespaceSelector", errors);
  check_preemption(object, errors);
  check_fungibility(object, errors);
  check_fair_sharing(object, errors);
  if (string_at(object, {"metadata", "deletionTimestamp"}).empty()) check_on_flavors(object, errors);
  return errors;
}

}  // namespace berth::api::kueue
