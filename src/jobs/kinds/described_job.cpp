#include "jobs/kinds/described_job.h"

#include <algorithm>
#include <utility>

#include "base/merge_patch.h"
#include "base/planted.h"
#include "jobs/kinds/hook.h"
#include "jobs/kinds/templates.h"

namespace berth::jobs::kinds {
namespace {

using api::kueue::PodSet;

}  // namespace

DescribedJob::DescribedJob(JobKindPtr kind, api::kueue::ObjectGetter get)
    : spec_(std::move(kind)), get_(std::move(get)), kind_{spec_->resource, spec_->kind, spec_->controller()} {}

bool DescribedJob::truth(const Expression& expression, const Json& job) {
  return expression && expression.truth(Scope(job)).value_or(false);
}

void DescribedJob::remember(const Json* job) const {
  looked_at_ = job;
  found_.clear();
  found_with_.reset();
}

const std::vector<FoundPodSet>& DescribedJob::found(const Json& job, Templates templates) const {
  const bool known =
      &job == looked_at_ && found_with_ && (found_with_ == templates || templates == Templates::kLeftOut);
  if (known) return found_;
  api::FieldErrors ignored;
  found_ = find_pod_sets(*spec_, job, get_, ignored, templates);
  found_with_ = &job == looked_at_ ? std::optional(templates) : std::nullopt;
  return found_;
}

bool DescribedJob::reclaims() const {
  return std::ranges::any_of(spec_->pod_sets, [](const auto& rule) { return static_cast<bool>(rule.reclaimable); }) ||
         (spec_->hook != nullptr && spec_->hook->reclaims());
}

bool DescribedJob::suspended(const Json& job) const {
  const Json* value = value_at(job, spec_->suspend);
  return value != nullptr && value->is_bool() && value->get_bool();
}

Json DescribedJob::suspension(bool suspend) const {
  Json patch = JsonObject();
  ensure_at(patch, spec_->suspend) = suspend;
  return patch;
}

// A suspended job whose templates show an admission is stopping: another client suspended it.
bool DescribedJob::stopping(const Json& job) const {
  if (!suspended(job)) return false;
  if (spec_->hook != nullptr) {
    if (const auto carries = spec_->hook->carries_admission(job)) return *carries;
  }
  return std::ranges::any_of(found(job, Templates::kLeftOut), [&](const FoundPodSet& one) {
    const Json* pod_template = one.pod_template.empty() ? nullptr : value_at(job, one.pod_template);
    return pod_template != nullptr && carries_admission(*pod_template);
  });
}

bool DescribedJob::on_hold(const Json& job) const { return truth(spec_->on_hold, job); }
bool DescribedJob::may_be_held() const { return static_cast<bool>(spec_->on_hold); }
std::string DescribedJob::size_version(const Json& job) const {
  std::string version = JobAdapter::size_version(job);
  const std::string more = spec_->hook != nullptr ? spec_->hook->size_version(job, get_) : std::string();
  return more.empty() ? version : version + "_" + more;
}
bool DescribedJob::active(const Json& job) const { return truth(spec_->active, job); }
bool DescribedJob::pods_ready(const Json& job) const { return truth(spec_->ready, job); }

std::optional<JobOutcome> DescribedJob::finished(const Json& job) const {
  if (!truth(spec_->finished, job) || planted(Planted::kUnnoticedEnd)) return std::nullopt;
  JobOutcome outcome;
  outcome.succeeded = spec_->succeeded ? truth(spec_->succeeded, job) : true;
  if (spec_->message) outcome.message = spec_->message.text(Scope(job)).value_or("");
  return outcome;
}

std::vector<PodSet> DescribedJob::pod_sets(const Json& job) const {
  std::vector<PodSet> out;
  for (const auto& one : found(job, Templates::kCopied)) out.push_back(one.pod_set);
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
       {&spec_->finished, &spec_->active, &spec_->ready, &spec_->succeeded, &spec_->skip, &spec_->on_hold}) {
    if (!*expression) continue;
    if (const auto value = expression->truth(scope); !value) return tl::unexpected(value.error());
  }
  if (!reclaims()) return {};
  for (const auto& one : found(job, Templates::kLeftOut)) {
    if (one.rule == nullptr || !one.rule->reclaimable) continue;
    if (const auto value = one.rule->reclaimable.number(scope_of(one, job)); !value)
      return tl::unexpected(value.error());
  }
  return {};
}

std::vector<api::kueue::ReclaimablePod> DescribedJob::reclaimable(const Json& job) const {
  std::vector<api::kueue::ReclaimablePod> out;
  if (!reclaims()) return out;
  for (const auto& one : found(job, Templates::kLeftOut)) {
    std::int64_t value = one.reclaimable;
    if (one.rule != nullptr && one.rule->reclaimable)
      value = one.rule->reclaimable.number(scope_of(one, job)).value_or(0);
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
  for (const auto& one : found(job, Templates::kCopied)) {
    const auto name = string_at(*one.pod_set.template_, {"spec", "priorityClassName"});
    if (!name.empty()) return std::string(name);
  }
  return {};
}

Result<Json> DescribedJob::started(const Json& job, const std::vector<PodSetInfo>& infos) const {
  const auto& places = found(job, Templates::kCopied);
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
  if (auto merged = merge_infos(result, places, infos); !merged) return tl::unexpected(merged.error());
  return result;
}

Json DescribedJob::restored(const Json& job, const std::vector<PodSet>& original) const {
  Json result = job;
  ensure_at(result, spec_->suspend) = true;
  const auto& places = found(job, Templates::kLeftOut);
  if (spec_->hook == nullptr || !spec_->hook->restore(result, places, original))
    restore_templates(result, places, original);
  return result;
}

std::optional<Json> DescribedJob::before_start(const Json& started) const {
  if (spec_->hook == nullptr || !spec_->hook->changes_when_suspended()) return std::nullopt;
  Json before = started;
  ensure_at(before, spec_->suspend) = true;
  return before;
}

std::optional<JobPatch> DescribedJob::next_stop(const Json& job, const std::vector<PodSet>& pod_sets) const {
  if (suspended(job) && !stopping(job)) return std::nullopt;
  if (spec_->hook != nullptr && spec_->hook->changes_when_suspended()) {
    if (!suspended(job)) {
      Json result = job;
      ensure_at(result, spec_->suspend) = true;
      return JobPatch{make_merge_patch(job, result), "", false};
    }
    if (active(job)) return std::nullopt;
  }
  return JobPatch{make_merge_patch(job, restored(job, pod_sets)), "", true};
}

}  // namespace berth::jobs::kinds
