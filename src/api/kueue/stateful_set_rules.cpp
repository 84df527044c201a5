#include "api/kueue/stateful_set_rules.h"

#include "api/kueue/pod_names.h"
#include "api/kueue/pod_shape.h"
#include "api/kueue/serving_rules.h"

namespace berth::api::kueue {
namespace {

constexpr std::string_view kStatefulSetKind = "apps/v1, Kind=StatefulSet";

void check_same_size(const Json& set, const Json& old, FieldErrors& errors) {
  const std::int64_t now = replicas_of(set), before = replicas_of(old);
  if (now != before && now != 0 && before != 0)
    errors.push_back(invalid_value("spec.replicas", Json(now), kImmutableField));
}

void check_same_pods(const Json& set, const Json& old, FieldErrors& errors) {
  const Json *now = find_path(set, {"spec", "template", "spec"}),
             *before = find_path(old, {"spec", "template", "spec"});
  if (now != nullptr && before != nullptr) check_same_shape(*now, *before, "spec.template.spec", errors);
}

}  // namespace

void default_stateful_set(Json& set, const JobContext& context) {
  if (take_defaults(set, context)) suspend_template(set, kStatefulSetFramework);
}

FieldErrors validate_stateful_set(const Json& set, const JobContext& context) {
  return is_served(context) ? validate_serving(set, kStatefulSetKind, context.labels) : FieldErrors();
}

FieldErrors validate_stateful_set_update(const Json& set, const Json& old, const JobContext& context) {
  if (!is_served(context)) return {};
  FieldErrors errors = validate_serving_update(set, old, kStatefulSetKind, context.labels);
  if (!is_managed(set, context) || !is_managed(old, context)) return errors;
  check_same_size(set, old, errors);
  check_same_pods(set, old, errors);
  return errors;
}

}  // namespace berth::api::kueue
