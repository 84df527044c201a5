#include "jobs/kinds/kind_rules.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/ready_times.h"
#include "api/kueue/slices.h"
#include "api/kueue/unlisted_kinds.h"
#include "api/kueue/webhooks/dispatched.h"
#include "api/resources.h"
#include "jobs/kinds/hook.h"
#include "jobs/kinds/pod_sets.h"

namespace berth::jobs::kinds {
namespace {

using namespace api::kueue;
using api::FieldErrors;

bool is_suspended(const JobKindSpec& kind, const Json& job) {
  const Json* value = value_at(job, kind.suspend);
  return value != nullptr && value->is_bool() && value->get_bool();
}

bool requests_to_be_elastic(const Json& job) { return annotation_of(job, kElasticJob) == "true"; }

// A rule about the update itself reads the object before it, and says nothing about that object alone.
bool was_broken(const Validation& validation, const Json* old) {
  if (old == nullptr) return false;
  const auto valid = validation.rule.truth(Scope(*old));
  return valid && !*valid;
}

// An update is not refused for what was wrong before it, or a job could not be stopped any more.
void check_validations(const JobKindSpec& kind, const Json& job, const Json* old, FieldErrors& errors) {
  Scope scope(job);
  if (old != nullptr) scope.with_old(*old);
  for (const auto& validation : kind.validations) {
    if (old != nullptr && !validation.updates) continue;
    const auto valid = validation.rule.truth(scope);
    if ((valid && *valid) || was_broken(validation, old)) continue;
    const auto message = valid ? validation.message.text(scope) : Result<std::string>(valid.error().message);
    errors.push_back(
        api::invalid_without_value(validation.field, message ? *message : std::string_view(message.error().message)));
  }
}

bool may_change_its_size(const JobKindSpec& kind, const Json& job, const AdmissionContext& admission) {
  return kind.elastic && requests_to_be_elastic(job) && admission.policy.labels.elastic_jobs;
}

// What the templates decide: checked on creation, and when the user edits a job that waits.
bool edited_while_waiting(const JobKindSpec& kind, const Json& job, const Json* old) {
  if (old == nullptr) return true;
  if (!is_suspended(kind, job) || !is_suspended(kind, *old)) return false;
  const Json *now = find(job, "spec"), *before = find(*old, "spec");
  return now == nullptr || before == nullptr || !json_equal(*now, *before);
}

// An update is not refused for what was wrong before it: a job whose runtime is gone must still stop.
void check_pod_sets_of(const JobKindSpec& kind, const Json& job, const Json* old, const AdmissionContext& admission,
                       FieldErrors& errors) {
  FieldErrors now, before;
  const auto& rules = admission.policy.labels;
  check_pod_sets(kind, job, admission.get, now, rules);
  if (old != nullptr && !now.empty()) check_pod_sets(kind, *old, admission.get, before, rules);
  std::set<std::string> known;
  for (const auto& error : before) known.insert(to_string(error));
  for (auto& error : now) {
    if (!known.contains(to_string(error))) errors.push_back(std::move(error));
  }
}

// What holds for new objects and for updates. `old` is null on creation.
void check_object(const JobKindSpec& kind, const Json& job, const Json* old, const AdmissionContext& admission,
                  FieldErrors& errors) {
  check_validations(kind, job, old, errors);
  if (kind.hook != nullptr) kind.hook->check(job, old, admission.policy, errors);
  check_job_labels(job, admission.policy.labels, errors);
  if (!kind.elastic) check_no_elastic_job(job, kind.api_version() + ", Kind=" + kind.kind, errors);
  if (old == nullptr || annotation_of(job, kAdmissionGatedBy) != annotation_of(*old, kAdmissionGatedBy))
    check_admission_gates(job, errors);
  if (edited_while_waiting(kind, job, old) || may_change_its_size(kind, job, admission))
    check_pod_sets_of(kind, job, old, admission, errors);
}

const FoundPodSet* find_named(const std::vector<FoundPodSet>& all, std::string_view name) {
  const auto it = std::ranges::find_if(all, [&](const FoundPodSet& one) { return one.pod_set.name == name; });
  return it == all.end() ? nullptr : &*it;
}

bool has_elastic_gate(const Json& pod_template) {
  return std::ranges::any_of(array_at(pod_template, {"spec", "schedulingGates"}),
                             [](const Json& gate) { return string_at(gate, {"name"}) == kElasticGate; });
}

std::vector<FoundPodSet> found_without_templates(const JobKindSpec& kind, const Json& job,
                                                 const AdmissionContext& admission) {
  FieldErrors ignored;
  return find_pod_sets(kind, job, admission.get, ignored, Templates::kLeftOut);
}

// New pods of an elastic job wait until quota is granted for them (KEP-77).
void add_elastic_gates(const JobKindSpec& kind, Json& job, const AdmissionContext& admission) {
  for (const FoundPodSet& one : found_without_templates(kind, job, admission)) {
    const Json* there = one.pod_template.empty() ? nullptr : value_at(job, one.pod_template);
    if (there != nullptr && there->is_object())
      add_gates(*ensure_at(job, one.pod_template), {std::string(kElasticGate)});
  }
}

// `old` is null on creation. An update is not refused for what was wrong before it; a job that is suspended gets the
// gates when it starts.
void check_elastic(const JobKindSpec& kind, const Json& job, const Json* old, const AdmissionContext& admission,
                   FieldErrors& errors) {
  if (!may_change_its_size(kind, job, admission)) return;
  for (const FoundPodSet& one : found_without_templates(kind, job, admission)) {
    if (one.pod_set.min_count && old == nullptr)
      errors.push_back(api::invalid_value(annotation_field(kElasticJob), Json("true"),
                                          "partial admission and elastic job cannot be used together"));
    const Json* now = one.pod_template.empty() ? nullptr : value_at(job, one.pod_template);
    const Json* before = now == nullptr || old == nullptr ? nullptr : value_at(*old, one.pod_template);
    if (now == nullptr || has_elastic_gate(*now) || (old != nullptr && is_suspended(kind, job)) ||
        (before != nullptr && !has_elastic_gate(*before)))
      continue;
    errors.push_back(api::invalid_value(one.field + ".spec.schedulingGates",
                                        Json(array_at(*now, {"spec", "schedulingGates"})),
                                        "an elastic job must have the ElasticJobSchedulingGate"));
  }
}

// Without the gate nobody grants or takes back the difference (KEP-77), so another size would stop all pods.
void check_elastic_size(const JobKindSpec& kind, const Json& job, const Json& old, const AdmissionContext& admission,
                        FieldErrors& errors) {
  const bool was_elastic = requests_to_be_elastic(old), elastic = requests_to_be_elastic(job);
  if (!kind.elastic) return;
  if (elastic != was_elastic)
    errors.push_back(api::invalid_value(annotation_field(kElasticJob), Json(elastic), kImmutableField));
  if (admission.policy.labels.elastic_jobs || !was_elastic || is_suspended(kind, job) || is_suspended(kind, old))
    return;
  const auto now = found_without_templates(kind, job, admission),
             before = found_without_templates(kind, old, admission);
  if (now.size() != before.size()) errors.push_back(api::forbidden_field("spec", kNotResizable));
  for (const auto& one : now) {
    const FoundPodSet* same = find_named(before, one.pod_set.name);
    if (same == nullptr || same->pod_set.count == one.pod_set.count) continue;
    errors.push_back(api::forbidden_field(one.count.empty() ? one.field : to_string(one.count), kNotResizable));
  }
}

FieldErrors check_new(const JobKindSpec& kind, const Json& job, const AdmissionContext& admission) {
  FieldErrors errors;
  check_object(kind, job, nullptr, admission, errors);
  check_elastic(kind, job, nullptr, admission, errors);
  api::kueue::check_ready_times(job, admission.policy.labels, errors);
  if (kind.hook != nullptr) kind.hook->arrange(errors);
  return errors;
}

FieldErrors check_update(const JobKindSpec& kind, const Json& job, const Json& old, const AdmissionContext& admission) {
  FieldErrors errors;
  const bool default_queue =
      admission.get(api::kLocalQueues, string_at(job, {"metadata", "namespace"}), kDefaultName) != nullptr;
  check_job_labels_update(
      {job, old, is_suspended(kind, job), is_suspended(kind, old), default_queue, admission.policy.labels}, errors);
  if (annotation_of(job, kAdmissionGatedBy) != annotation_of(old, kAdmissionGatedBy))
    check_admission_gates_update(job, old, errors);
  check_object(kind, job, &old, admission, errors);
  check_elastic(kind, job, &old, admission, errors);
  check_elastic_size(kind, job, old, admission, errors);
  if (kind.hook != nullptr) kind.hook->arrange(errors);
  return errors;
}

// Nobody manages the job, but it must not contradict itself.
FieldErrors check_skipped(const JobKindSpec& kind, const Json& job, const Json* old, const AdmissionPolicy& policy) {
  FieldErrors errors;
  if (kind.hook != nullptr) kind.hook->check(job, old, policy, errors);
  return errors;
}

FieldErrors check(const JobKindSpec& kind, const Json& job, const Json* old, const AdmissionContext& admission) {
  const JobContext context = job_context(job, admission);
  // A job that loses its queue label was managed until now: the update rules must check that.
  const bool concerned = is_managed(job, context) || (old != nullptr && is_managed(*old, context));
  if (!concerned) return {};
  if (is_skipped(kind, job)) return check_skipped(kind, job, old, admission.policy);
  return old == nullptr ? check_new(kind, job, admission) : check_update(kind, job, *old, admission);
}

// The operator leaves such a job alone: it runs on another cluster.
void default_managed_by(const JobKindSpec& kind, Json& job, const AdmissionContext& admission) {
  const DispatchRule& rule = kind.dispatch;
  if (!rule || !admission.policy.dispatch_jobs) return;
  const Json* by = value_at(job, rule.managed_by);
  const bool is_free = by == nullptr || by->is_null() || (by->is_string() && by->get_string() == rule.operator_name);
  if (is_free && is_dispatched(job, admission)) ensure_at(job, rule.managed_by) = kMultiKueueController;
}

void set_defaults(const JobKindSpec& kind, Json& job, const AdmissionContext& admission) {
  if (is_skipped(kind, job) || !take_defaults(job, job_context(job, admission))) return;
  ensure_at(job, kind.suspend) = true;
  default_managed_by(kind, job, admission);
  if (kind.hook != nullptr) kind.hook->set_defaults(job);
  if (may_change_its_size(kind, job, admission)) add_elastic_gates(kind, job, admission);
}

AdmissionRules managed_rules(const JobKindPtr& kind) {
  AdmissionRules rules;
  rules.mutate = [kind](Json& job, const AdmissionContext& admission) { set_defaults(*kind, job, admission); };
  rules.check = [kind](const Json& job, const Json* old, std::string_view subresource,
                       const AdmissionContext& admission) {
    return subresource.empty() ? kinds::check(*kind, job, old, admission) : FieldErrors();
  };
  rules.webhook = kind->webhook_name;
  return rules;
}

AdmissionRules unlisted_rules(const JobKindPtr& kind) {
  AdmissionRules rules;
  rules.warn = [kind](const Json& job, const Json* old, const AdmissionContext& admission) {
    const bool here = admission.policy.manages_namespace(string_at(job, {"metadata", "namespace"}));
    return here ? unlisted_kind_warning(job, old, kind->kind, kind->framework) : std::string();
  };
  return rules;
}

}  // namespace

FieldErrors refusals_of_new(const JobKindSpec& kind, const Json& job, const ObjectGetter& get) {
  const AdmissionPolicy policy;
  return check_new(kind, job, {get, policy});
}

bool is_skipped(const JobKindSpec& kind, const Json& job) {
  return kind.skip && kind.skip.truth(Scope(job)).value_or(false);
}

JobKindRules rules_of(const JobKindPtr& kind, bool managed) {
  return {kind->resource, kind->kind, kind->webhook_path(), managed,
          managed ? managed_rules(kind) : unlisted_rules(kind)};
}

}  // namespace berth::jobs::kinds
