#include "api/kueue/deployment_rules.h"

#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/kueue/serving_rules.h"
#include "api/kueue/types.h"

namespace berth::api::kueue {
namespace {

constexpr std::string_view kDeploymentKind = "apps/v1, Kind=Deployment";

void hand_to_pods(Json& deployment, std::string_view key, std::string_view value) {
  if (!value.empty()) ensure_path(deployment, {"spec", "template", "metadata", "labels", key}) = Json(value);
}

}  // namespace

void default_deployment(Json& deployment, const JobContext& context) {
  if (!take_defaults(deployment, context)) return;
  hand_to_pods(deployment, kManagedLabel, "true");
  for (const auto key : {kQueueLabel, kPriorityClassLabel}) {
    const std::string value(label_of(deployment, key));
    hand_to_pods(deployment, key, value);
  }
  suspend_template(deployment, kDeploymentFramework);
}

FieldErrors validate_deployment(const Json& deployment, const JobContext& context) {
  return is_served(context) ? validate_serving(deployment, kDeploymentKind, context.labels) : FieldErrors();
}

FieldErrors validate_deployment_update(const Json& deployment, const Json& old, const JobContext& context) {
  if (!is_served(context)) return {};
  return validate_serving_update(deployment, old, kDeploymentKind, context.labels);
}

}  // namespace berth::api::kueue
