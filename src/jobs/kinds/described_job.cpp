#include "jobs/kinds/described_job.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/merge_patch.h"
#include "jobs/kinds/hook.h"

namespace berth::jobs::kinds {
namespace {

using api::kueue::PodSet;

std::string controller_of(const JobKindSpec& spec) { return spec.framework + "-kueue-controller"; }

// Restores one member of a template from the original.
void put_back(Json& job, const Place& pod_template, const Json& original, std::string_view part,
              std::string_view member) {
  const Place place = pod_template + Path{std::string(part), std::string(member)};
  if (const Json* value = find_path(original, {part, member})) {
    if (Json* target = ensure_at(job, place)) *target = *value;
  } else {
    erase_at(job, place);
  }
}

void restore_template(Json& job, const Place& pod_template, const Json& original) {
  // An admission adds metadata to a template that has none.
  const bool had_metadata = find(original, "metadata") != nullptr;
  for (const std::string_view part : {"labels", "annotations"}) put_back(job, pod_template, original, "metadata", part);
  for (const std::string_view part : {"nodeSelector", "tolerations", "schedulingGates"})
    put_back(job, pod_template, original, "spec", part);
  const Place metadata = pod_template + Path{"metadata"};
  const Json* left = value_at(job, metadata);
  if (!had_metadata && left != nullptr && left->is_object() && left->get_object().empty()) erase_at(job, metadata);
}

}  // namespace

DescribedJob::DescribedJob(JobKindPtr kind, api::kueue::ObjectGetter get)
    : spec_(std::move(kind)), get_(std::move(get)), kind_{spec_->resource, spec_->kind, controller_of(*spec_)} {}

bool DescribedJob::truth(const Expression& expression, const Json& job) {
  return expression && expression.truth(Scope(job)).value_or(false);
}

std::vector<FoundPodSet> DescribedJob::found(const Json& job) const {
  api::FieldErrors ignored;
  return find_pod_sets(*spec_, job, get_, ignored);
}

bool DescribedJob::suspended(const Json& job) const {
  const Json* value = value_at(job, spec_->suspend);
  return value != nullptr && value->is_bool() && value->get_bool();
}

// A suspended job whose templates show an admission is stopping: another client suspended it.
bool DescribedJob::stopping(const Json& job) const {
  if (!suspended(job)) return false;
  if (spec_->hook != nullptr) {
    if (const auto carries = spec_->hook->carries_admission(job)) return *carries;
  }
  return std::ranges::any_of(found(job), [&](const FoundPodSet& one) {
    const Json* pod_template = one.pod_template.empty() ? nullptr : value_at(job, one.pod_template);
    return pod_template != nullptr && carries_admission(*pod_template);
  });
}

bool DescribedJob::active(const Json& job) const { return truth(spec_->active, job); }
bool DescribedJob::pods_ready(const Json& job) const { return truth(spec_->ready, job); }

std::optional<JobOutcome> DescribedJob::finished(const Json& job) const {
  if (!truth(spec_->finished, job)) return std::nullopt;
  JobOutcome outcome;
  outcome.succeeded = spec_->succeeded ? truth(spec_->succeeded, job) : true;
  if (spec_->message) outcome.message = spec_->message.text(Scope(job)).value_or("");
  return outcome;
}

std::vector<PodSet> DescribedJob::pod_sets(const Json& job) const {
  std::vector<PodSet> out;
  for (auto& one : found(job)) out.push_back(std::move(one.pod_set));
  return out;
}

Result<void> DescribedJob::check_pod_sets(const Json& job) const {
  api::FieldErrors errors;
  kinds::check_pod_sets(*spec_, job, get_, errors);
  if (!errors.empty()) return fail(api::to_string(errors));
  return {};
}

Result<void> DescribedJob::check_status(const Json& job) const {
  const Scope scope(job);
  for (const Expression* expression :
       {&spec_->finished, &spec_->active, &spec_->ready, spec_->succeeded ? &spec_->succeeded : nullptr}) {
    if (expression == nullptr || !*expression) continue;
    if (const auto value = expression->truth(scope); !value) return tl::unexpected(value.error());
  }
  for (const auto& one : found(job)) {
    if (one.rule == nullptr || !one.rule->reclaimable) continue;
    if (const auto value = one.rule->reclaimable.number(scope_of(one, job)); !value)
      return tl::unexpected(value.error());
  }
  return {};
}

std::vector<api::kueue::ReclaimablePod> DescribedJob::reclaimable(const Json& job) const {
  std::vector<api::kueue::ReclaimablePod> out;
  if (std::ranges::none_of(spec_->pod_sets, [](const auto& rule) { return static_cast<bool>(rule.reclaimable); }))
    return out;
  for (const auto& one : found(job)) {
    if (one.rule == nullptr || !one.rule->reclaimable) continue;
    const auto value = one.rule->reclaimable.number(scope_of(one, job)).value_or(0);
    const auto count = std::clamp<std::int64_t>(value, 0, one.pod_set.count);
    if (count > 0) out.push_back({one.pod_set.name, static_cast<std::int32_t>(count)});
  }
  return out;
}

// Without a rule, the class of the first pod set that has one.
std::string DescribedJob::priority_class(const Json& job) const {
  if (spec_->priority_class) {
    auto name = spec_->priority_class.text(Scope(job)).value_or("");
    if (!name.empty()) return name;
  }
  for (const auto& one : found(job)) {
    const auto name = string_at(*one.pod_set.template_, {"spec", "priorityClassName"});
    if (!name.empty()) return std::string(name);
  }
  return {};
}

Result<Json> DescribedJob::started(const Json& job, const std::vector<PodSetInfo>& infos) const {
  const auto places = found(job);
  if (infos.size() != places.size())
    return fail("the job has " + std::to_string(places.size()) + " pod sets, the admission has " +
                std::to_string(infos.size()));
  Json result = job;
  ensure_at(result, spec_->suspend) = false;
  if (spec_->hook != nullptr) {
    if (const auto done = spec_->hook->start(result, places, infos)) {
      if (!*done) return tl::unexpected(done->error());
      return result;
    }
  }
  for (const auto& one : places) {
    const auto info = std::ranges::find(infos, one.pod_set.name, &PodSetInfo::name);
    if (info == infos.end()) return fail("the admission has no pod set " + one.pod_set.name);
    if (one.pod_template.empty()) continue;
    Json* pod_template = ensure_at(result, one.pod_template);
    if (auto merged = merge_into_template(*pod_template, *info); !merged) return tl::unexpected(merged.error());
    if (!one.count.empty() && info->count != one.pod_set.count) *ensure_at(result, one.count) = info->count;
  }
  return result;
}

// Without the original pod sets (the workload is lost), only the marks of the admission can be removed.
Json DescribedJob::restored(const Json& job, const std::vector<PodSet>& original) const {
  Json result = job;
  ensure_at(result, spec_->suspend) = true;
  const auto places = found(job);
  if (spec_->hook != nullptr && spec_->hook->restore(result, places, original)) return result;
  for (const auto& one : places) {
    if (one.pod_template.empty()) continue;
    const auto before = std::ranges::find(original, one.pod_set.name, &PodSet::name);
    if (before != original.end()) {
      restore_template(result, one.pod_template, *before->template_);
      if (!one.count.empty() && before->min_count && before->count != one.pod_set.count)
        *ensure_at(result, one.count) = before->count;
    }
    // The workload may have been made from a started job.
    if (Json* pod_template = ensure_at(result, one.pod_template)) strip_admission(*pod_template);
  }
  return result;
}

std::optional<JobPatch> DescribedJob::next_stop(const Json& job, const std::vector<PodSet>& pod_sets) const {
  if (suspended(job) && !stopping(job)) return std::nullopt;
  return JobPatch{make_merge_patch(job, restored(job, pod_sets)), "", true};
}

}  // namespace berth::jobs::kinds
