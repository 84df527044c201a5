#include "api/kueue/serving_rules.h"

#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/kueue/ready_times.h"
#include "api/kueue/types.h"

namespace berth::api::kueue {
namespace {

void check_serving_queue_update(const JobUpdate& update, FieldErrors& errors) {
  const std::string_view now = label_of(update.now, kQueueLabel);
  const bool may_change = update.suspended && !now.empty();
  if (!may_change && now != label_of(update.old, kQueueLabel))
    errors.push_back(invalid_value(label_field(kQueueLabel), Json(now), kImmutableField));
}

}  // namespace

bool is_served(const JobContext& context) { return context.namespace_managed && !context.ancestor_managed; }

void suspend_template(Json& object, std::string_view framework) {
  ensure_path(object, {"spec", "template", "metadata", "annotations", kPodSuspendingParent}) = Json(framework);
}

FieldErrors validate_serving(const Json& object, std::string_view kind, const LabelRules& rules) {
  FieldErrors errors;
  check_queue_name(object, errors);
  check_no_elastic_job(object, kind, errors);
  check_admission_gates(object, errors);
  check_ready_times(object, rules, errors);
  return errors;
}

FieldErrors validate_serving_update(const Json& object, const Json& old, std::string_view kind,
                                    const LabelRules& rules) {
  FieldErrors errors;
  const bool gates_edited = annotation_of(object, kAdmissionGatedBy) != annotation_of(old, kAdmissionGatedBy);
  const bool idle = int_at(old, {"status", "readyReplicas"}) == 0;
  const JobUpdate update{object, old, idle, idle, false, rules};
  check_queue_name(object, errors);
  check_no_elastic_job(object, kind, errors);
  if (gates_edited) check_admission_gates(object, errors);
  check_serving_queue_update(update, errors);
  check_ready_times_update(update, errors);
  check_priority_class_update(update, errors);
  if (gates_edited) check_admission_gates_update(object, old, errors);
  return errors;
}

std::int64_t replicas_of(const Json& object) { return int_at(object, {"spec", "replicas"}, 1); }

}  // namespace berth::api::kueue
