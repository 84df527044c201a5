#include "api/batch/job_validation.h"

#include <algorithm>
#include <charconv>

#include "api/core/pod_amounts.h"
#include "api/core/validation.h"
#include "api/kueue/names.h"
#include "api/kueue/ready_times.h"
#include "api/kueue/slices.h"
#include "api/kueue/topology_annotations.h"
#include "api/kueue/topology_spreading.h"
#include "api/kueue/types.h"

namespace berth::api::batch {
namespace {

using namespace kueue;

bool is_suspended(const Json& job) { return bool_at(job, {"spec", "suspend"}); }

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const JsonObject& template_annotations(const Json& job) {
  return object_at(job, {"spec", "template", "metadata", "annotations"});
}

// The largest number of pods that run at the same time.
std::int64_t pod_count(const Json& job) {
  const std::int64_t parallelism = int_at(job, {"spec", "parallelism"}, 1);
  return std::min(parallelism, int_at(job, {"spec", "completions"}, parallelism));
}

void check_min_parallelism(const Json& job, FieldErrors& errors) {
  const Json* value = find_path(job, {"metadata", "annotations", kJobMinParallelism});
  if (!value || !value->is_string()) return;
  const std::string path = annotation_field(kJobMinParallelism);
  const auto least = integer(view(value->get_string()));
  const std::int64_t most = pod_count(job) - 1;
  if (!least) {
    errors.push_back(invalid_value(path, *value, "must be an integer"));
  } else if (*least <= 0 || *least > most) {
    errors.push_back(invalid_value(path, *least, "should be between 0 and " + std::to_string(most)));
  }
  if (annotation_of(job, kElasticJob) == "true")
    errors.push_back(invalid_value(path, *value, "partial admission and elastic job cannot be used together"));
}

void check_completions_equal_parallelism(const Json& job, FieldErrors& errors) {
  const Json* value = find_path(job, {"metadata", "annotations", kCompletionsEqualParallelism});
  if (!value || !value->is_string()) return;
  const std::string path = annotation_field(kCompletionsEqualParallelism);
  const std::string_view text = view(value->get_string());
  if (text != "true" && text != "false") {
    errors.push_back(invalid_value(path, *value, "must be true or false"));
    return;
  }
  if (text == "false") return;
  if (string_at(job, {"spec", "completionMode"}) != "Indexed")
    errors.push_back(invalid_value(path, *value, "should not be enabled for NonIndexed jobs"));
  const std::int64_t parallelism = int_at(job, {"spec", "parallelism"}, 1);
  const std::int64_t completions = int_at(job, {"spec", "completions"}, 1);
  if (completions != parallelism)
    errors.push_back(invalid_value(
        "spec.completions", completions,
        "should be equal to parallelism when " + std::string(kCompletionsEqualParallelism) + " annotation is true"));
}

// The topology request is in annotations of the pod template.
void check_topology(const Json& job, FieldErrors& errors) {
  check_topology_annotations(template_annotations(job), pod_count(job), "spec.template.metadata.annotations", errors);
}

void check_flag(const Json& job, const Json* old, const kueue::LabelRules& rules, FieldErrors& errors) {
  const JsonObject* before = old == nullptr ? nullptr : &template_annotations(*old);
  const std::string path = "spec.template.metadata.annotations";
  if (rules.refuse_false_unconstrained) check_unconstrained_flag(template_annotations(job), before, path, errors);
  if (rules.check_spreading) check_topology_spreading(template_annotations(job), before, path, errors);
}

void check_amounts(const Json& job, FieldErrors& errors) {
  if (const Json* spec = find_path(job, {"spec", "template", "spec"}))
    check_pod_amounts(*spec, "spec.template.spec", errors);
}

// Without the gate nobody grants or takes back the difference (KEP-77), so another size would stop all its pods.
void check_elastic_size(const Json& job, const Json& old, const kueue::LabelRules& rules, FieldErrors& errors) {
  if (rules.elastic_jobs) return;
  if (annotation_of(old, kElasticJob) != "true" || is_suspended(job) || is_suspended(old)) return;
  if (pod_count(job) == pod_count(old)) return;
  errors.push_back(forbidden_field("spec.parallelism", kNotResizable));
}

void check_min_parallelism_update(const Json& job, const Json& old, FieldErrors& errors) {
  if (is_suspended(old) || annotation_of(old, kJobMinParallelism).empty()) return;
  if (is_suspended(job)) return;  // suspension restores the original parallelism
  if (int_at(job, {"spec", "parallelism"}, 1) != int_at(old, {"spec", "parallelism"}, 1))
    errors.push_back(forbidden_field("spec.parallelism",
                                     "cannot change when partial admission is enabled and the job is not suspended"));
}

bool is_edited(const Json& job, const Json& old, std::initializer_list<std::string_view> path) {
  static const Json kNone;
  const Json *now = find_path(job, path), *before = find_path(old, path);
  return !json_equal(now == nullptr ? kNone : *now, before == nullptr ? kNone : *before);
}

// Checks only changes of the user: when the job starts, partial admission lowers the parallelism and the template
// gets more annotations.
void check_size_and_places(const Json& job, const Json& old, FieldErrors& errors) {
  const bool waits = is_suspended(job) && is_suspended(old);
  const bool count_edited = waits && pod_count(job) != pod_count(old);
  if (count_edited || annotation_of(job, kJobMinParallelism) != annotation_of(old, kJobMinParallelism))
    check_min_parallelism(job, errors);
  const bool template_edited = !json_equal(Json(template_annotations(job)), Json(template_annotations(old)));
  if (count_edited || (waits && template_edited)) check_topology(job, errors);
  if (waits && is_edited(job, old, {"spec", "template"})) check_amounts(job, errors);
}

// New pods of an elastic job wait until quota is granted for them.
void add_elastic_gate(Json& job) {
  JsonArray gates = array_at(job, {"spec", "template", "spec", "schedulingGates"});
  const auto is_there = [](const Json& gate) { return string_at(gate, {"name"}) == kueue::kElasticGate; };
  if (std::ranges::any_of(gates, is_there)) return;
  gates.push_back(JsonObject{{"name", kueue::kElasticGate}});
  ensure_path(job, {"spec", "template", "spec", "schedulingGates"}) = std::move(gates);
}

bool labels_edited(const Json& job, const Json& old) {
  return is_edited(job, old, {"metadata", "labels"}) || is_edited(job, old, {"metadata", "annotations"});
}

}  // namespace

void default_job(Json& job, const JobContext& context) {
  if (!take_defaults(job, context)) return;
  ensure_path(job, {"spec", "suspend"}) = true;
  if (context.labels.elastic_jobs && annotation_of(job, kElasticJob) == "true") add_elastic_gate(job);
}

FieldErrors validate_job(const Json& job, const kueue::LabelRules& rules) {
  FieldErrors errors;
  check_job_labels(job, rules, errors);
  check_ready_times(job, rules, errors);
  check_admission_gates(job, errors);
  check_completions_equal_parallelism(job, errors);
  check_min_parallelism(job, errors);
  check_topology(job, errors);
  check_flag(job, nullptr, rules, errors);
  check_amounts(job, errors);
  return errors;
}

// In the order of Kueue's webhook: first the rules for the new job, then the immutable fields.
FieldErrors validate_job_update(const Json& job, const Json& old, bool default_queue_exists,
                                const kueue::LabelRules& rules) {
  FieldErrors errors;
  // What was wrong before refuses no other change: the job must be stopped and deleted.
  if (labels_edited(job, old)) check_job_labels(job, rules, errors);
  const bool gates_edited = annotation_of(job, kAdmissionGatedBy) != annotation_of(old, kAdmissionGatedBy);
  if (gates_edited) check_admission_gates(job, errors);
  if (labels_edited(job, old) || is_edited(job, old, {"spec"})) check_completions_equal_parallelism(job, errors);
  check_size_and_places(job, old, errors);
  check_flag(job, &old, rules, errors);
  check_job_labels_update({job, old, is_suspended(job), is_suspended(old), default_queue_exists, rules}, errors);
  if (const bool elastic = annotation_of(job, kElasticJob) == "true";
      elastic != (annotation_of(old, kElasticJob) == "true"))
    errors.push_back(invalid_value(annotation_field(kElasticJob), Json(elastic), kImmutableField));
  if (gates_edited) check_admission_gates_update(job, old, errors);
  check_min_parallelism_update(job, old, errors);
  check_elastic_size(job, old, rules, errors);
  if (!is_suspended(job) &&
      annotation_of(job, kCompletionsEqualParallelism) != annotation_of(old, kCompletionsEqualParallelism))
    errors.push_back(forbidden_field(annotation_field(kCompletionsEqualParallelism),
                                     "field is immutable while the job is not suspended"));
  return errors;
}

}  // namespace berth::api::batch
