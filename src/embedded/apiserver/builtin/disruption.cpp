// PodDisruptionBudgets: validated and stored. Evictions in the embedded server ignore them.
// https://kubernetes.io/docs/tasks/run-application/configure-pdb/
#include "api/printing/table.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/kinds.h"

namespace berth::apiserver {
namespace {

FieldErrors validate_disruption(const Json& object, const Lookup&) {
  FieldErrors errors;
  const Json& spec = member_or_null(object, "spec");
  if (find(spec, "minAvailable") != nullptr && find(spec, "maxUnavailable") != nullptr) {
    errors.push_back(api::invalid_value("spec", spec, "minAvailable and maxUnavailable cannot be both set"));
  }
  check_share(spec, "minAvailable", "spec", errors);
  check_share(spec, "maxUnavailable", "spec", errors);
  check_label_selector(member_or_null(spec, "selector"), "spec.selector", errors);
  check_enum(spec, "unhealthyPodEvictionPolicy", "spec", {"AlwaysAllow", "IfHealthyBudget"}, false, errors);
  return errors;
}

JsonArray cells_disruption(const Json& object, Time now) {
  auto bound = [&](std::string_view key) {
    const Json& value = member_or_null(member_or_null(object, "spec"), key);
    if (value.is_string()) return Json(value);
    return value.is_null() ? Json("N/A") : Json(to_string(value));
  };
  return {bound("minAvailable"), bound("maxUnavailable"), int_at(object, {"status", "disruptionsAllowed"}),
          Json(api::age_of(object, now))};
}

}  // namespace

ResourceInfo pod_disruption_budget_resource() {
  ResourceInfo info =
      make_kind({"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", "poddisruptionbudget", {"pdb"}, {}},
                "PodDisruptionBudget");
  separate_status(info);
  info.columns = {api::text_column("Min Available", "Pods that must stay."),
                  api::text_column("Max Unavailable", "Pods that may be missing."),
                  api::text_column("Allowed Disruptions", "Pods that may be evicted now."),
                  api::text_column("Age", "Time since the creation.")};
  info.strategy.validate = validate_disruption;
  info.strategy.cells = cells_disruption;
  return info;
}

}  // namespace berth::apiserver
