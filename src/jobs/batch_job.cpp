// batch/v1 Job. https://kubernetes.io/docs/concepts/workloads/controllers/job/
#include <algorithm>
#include <charconv>

#include "api/kueue/topology_annotations.h"
#include "base/merge_patch.h"
#include "jobs/job_adapter.h"

namespace berth::jobs {
namespace {

using api::kueue::PodSet;

constexpr std::string_view kMinParallelism = "kueue.x-k8s.io/job-min-parallelism";
constexpr std::string_view kCompletionsEqualParallelism = "kueue.x-k8s.io/job-completions-equal-parallelism";
// Marks a Job whose stop is not complete: its template still contains what admission added.
constexpr std::string_view kStopping = "kueue.x-k8s.io/stopping";
constexpr std::string_view kCompletionIndexLabel = "batch.kubernetes.io/job-completion-index";
// Labels that the API server adds to the template of every Job. The user did not ask for the first three, so the
// workload's template does not have them; all of them stay when a template is restored.
constexpr std::string_view kGeneratedLabels[] = {"controller-uid", "job-name", "batch.kubernetes.io/controller-uid",
                                                 "batch.kubernetes.io/job-name"};

std::int32_t parallelism(const Json& job) { return static_cast<std::int32_t>(int_at(job, {"spec", "parallelism"}, 1)); }

std::int32_t pod_count(const Json& job) {
  const auto completions = optional_int_at(job, {"spec", "completions"});
  const std::int32_t wanted = parallelism(job);
  return completions ? static_cast<std::int32_t>(std::min<std::int64_t>(wanted, *completions)) : wanted;
}

std::optional<std::int64_t> completion_index(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// The number of indexes below `end` in a list such as "1,3-5". What is no index or range counts as none.
std::int64_t indexes_below(std::int64_t end, std::string_view list) {
  std::int64_t count = 0;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), part.size() + 1));
    const std::size_t dash = part.find('-');
    const auto first = completion_index(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : completion_index(part.substr(dash + 1));
    if (first && last) count += std::max<std::int64_t>(std::min(*last, end - 1) - *first + 1, 0);
  }
  return count;
}

// The pods or indexes that need no pod any more: they succeeded or, in an Indexed Job, failed for good
// (backoffLimitPerIndex).
std::int64_t ended_for_good(const Json& job) {
  const std::int64_t succeeded = int_at(job, {"status", "succeeded"});
  if (string_at(job, {"spec", "completionMode"}) != "Indexed") return succeeded;
  const std::int64_t end = int_at(job, {"spec", "completions"});
  const auto done = string_at(job, {"status", "completedIndexes"});
  // An elastic job may have shrunk since the status was written.
  return (done.empty() ? succeeded : indexes_below(end, done)) +
         indexes_below(end, string_at(job, {"status", "failedIndexes"}));
}

std::string_view annotation(const Json& job, std::string_view key) {
  return string_at(job, {"metadata", "annotations", key});
}

// The least number of pods for partial admission.
std::optional<std::int32_t> min_count(const Json& job) {
  const auto text = annotation(job, kMinParallelism);
  std::int32_t count = 0;
  const bool number = std::from_chars(text.data(), text.data() + text.size(), count).ec == std::errc{};
  return number && count >= 1 ? std::optional(count) : std::nullopt;
}

// The template as the user wrote it: labels, annotations and spec, without what the API server generated and without
// the marks of an admission.
Json user_template(const Json& job) {
  Json result = JsonObject();
  if (const Json* spec = find_path(job, {"spec", "template", "spec"})) result.as_object()["spec"] = *spec;
  Json metadata = JsonObject();
  for (const std::string_view part : {"labels", "annotations"}) {
    const Json* values = find_path(job, {"spec", "template", "metadata", part});
    if (values == nullptr || !values->is_object()) continue;
    JsonObject kept = values->as_object();
    if (part == "labels") {
      for (const auto& label : {kGeneratedLabels[0], kGeneratedLabels[1], kGeneratedLabels[2]}) kept.erase(label);
    }
    if (!kept.empty()) metadata.as_object()[part] = std::move(kept);
  }
  if (!metadata.as_object().empty()) result.as_object()["metadata"] = std::move(metadata);
  strip_admission(result);
  return result;
}

class BatchJob final : public JobAdapter {
 public:
  const JobKind& kind() const override {
    static const JobKind kind{{"batch", "v1", "jobs"}, "Job", "batch/job-kueue-controller"};
    return kind;
  }

  bool suspended(const Json& job) const override { return bool_at(job, {"spec", "suspend"}); }
  Json suspension(bool suspend) const override { return JsonObject{{"spec", JsonObject{{"suspend", suspend}}}}; }
  // A suspended Job whose template shows an admission is stopping as well: another client suspended it, or its
  // annotation was lost.
  bool stopping(const Json& job) const override {
    if (!annotation(job, kStopping).empty()) return true;
    const Json* pod_template = find_path(job, {"spec", "template"});
    return suspended(job) && pod_template && carries_admission(*pod_template);
  }
  bool may_be_elastic() const override { return true; }
  bool active(const Json& job) const override { return int_at(job, {"status", "active"}) != 0; }

  bool pods_ready(const Json& job) const override { return *pods_that_are_ready(job) >= pod_count(job); }
  std::optional<std::int64_t> pods_that_are_ready(const Json& job) const override {
    // A pod that just ended is counted as succeeded only after its finalizer was removed.
    const auto uncounted = array_at(job, {"status", "uncountedTerminatedPods", "succeeded"}).size();
    return ended_for_good(job) + int_at(job, {"status", "ready"}) + static_cast<std::int64_t>(uncounted);
  }

  std::optional<JobOutcome> finished(const Json& job) const override {
    for (const auto& condition : array_at(job, {"status", "conditions"})) {
      const auto type = string_at(condition, {"type"});
      if (string_at(condition, {"status"}) != "True" || (type != "Complete" && type != "Failed")) continue;
      return JobOutcome{type == "Complete", std::string(string_at(condition, {"message"}))};
    }
    return std::nullopt;
  }

  std::vector<PodSet> pod_sets(const Json& job) const override {
    PodSet pod_set;
    pod_set.template_ = std::make_shared<const Json>(user_template(job));
    pod_set.count = pod_count(job);
    pod_set.min_count = min_count(job);
    pod_set.topology_request = api::kueue::topology_request_of(
        object_at(*pod_set.template_, {"metadata", "annotations"}), kCompletionIndexLabel);
    return {pod_set};
  }

  Result<void> check_pod_sets(const Json& job) const override {
    api::FieldErrors errors;
    api::kueue::check_topology_annotations(object_at(job, {"spec", "template", "metadata", "annotations"}),
                                           pod_count(job), "spec.template.metadata.annotations", errors);
    if (!errors.empty()) return fail(api::to_string(errors));
    return {};
  }

  std::vector<api::kueue::ReclaimablePod> reclaimable(const Json& job) const override {
    const std::int64_t pods = pod_count(job);
    const std::int64_t remaining =
        std::max<std::int64_t>(int_at(job, {"spec", "completions"}, pods) - ended_for_good(job), 0);
    if (pods <= 1 || remaining >= pods) return {};
    return {{"main", static_cast<std::int32_t>(pods - remaining)}};
  }

  std::string priority_class(const Json& job) const override {
    return std::string(string_at(job, {"spec", "template", "spec", "priorityClassName"}));
  }

  Result<Json> started(const Json& job, const std::vector<PodSetInfo>& infos) const override {
    if (infos.size() != 1) return fail("a Job has one pod set, the admission has " + std::to_string(infos.size()));
    Json result = job;
    ensure_path(result, {"spec", "suspend"}) = false;
    if (auto merged = merge_into_template(ensure_path(result, {"spec", "template"}), infos[0]); !merged)
      return tl::unexpected(merged.error());
    if (min_count(job)) set_count(result, infos[0].count);
    return result;
  }

  std::optional<JobPatch> next_stop(const Json& job, const std::vector<PodSet>& pod_sets) const override {
    if (!suspended(job)) {
      Json patch = JsonObject();
      ensure_path(patch, {"spec", "suspend"}) = true;
      ensure_path(patch, {"metadata", "annotations", kStopping}) = "true";
      return JobPatch{std::move(patch), "", false};
    }
    if (!stopping(job)) return std::nullopt;
    // The template of a Job can change only while the Job has no start time. The Job controller clears it, too;
    // either may be first.
    if (find_path(job, {"status", "startTime"}) != nullptr) {
      Json patch = JsonObject();
      ensure_path(patch, {"status", "startTime"}) = nullptr;
      return JobPatch{std::move(patch), "status", false};
    }
    return JobPatch{make_merge_patch(job, restored(job, pod_sets)), "", true};
  }

 private:
  // Only a partially admitted Job has a count that differs from what it asks for.
  static void set_count(Json& job, std::int32_t count) {
    if (count == pod_count(job)) return;
    ensure_path(job, {"spec", "parallelism"}) = count;
    if (annotation(job, kCompletionsEqualParallelism) == "true") ensure_path(job, {"spec", "completions"}) = count;
  }

  // Restores one field of the Job's template from the original.
  static void put_back(Json& job, const Json& original, std::string_view part, std::string_view member) {
    if (const Json* value = find_path(original, {part, member})) {
      ensure_path(job, {"spec", "template", part, member}) = *value;
    } else {
      erase_path(job, {"spec", "template", part, member});
    }
  }

  // Without pod sets (the workload is lost), only the marks of the admission can be removed.
  static Json restored(const Json& job, const std::vector<PodSet>& pod_sets) {
    Json result = job;
    erase_path(result, {"metadata", "annotations", kStopping});
    if (pod_sets.empty()) {
      strip_admission(ensure_path(result, {"spec", "template"}));
      return result;
    }
    const Json& original = *pod_sets[0].template_;
    JsonObject labels = object_at(original, {"metadata", "labels"});
    for (const auto label : kGeneratedLabels) {
      const auto value = string_at(job, {"spec", "template", "metadata", "labels", label});
      if (!value.empty()) labels[label] = value;
    }
    ensure_path(result, {"spec", "template", "metadata", "labels"}) = std::move(labels);
    put_back(result, original, "metadata", "annotations");
    for (const std::string_view part : {"nodeSelector", "tolerations", "schedulingGates"})
      put_back(result, original, "spec", part);
    strip_admission(ensure_path(result, {"spec", "template"}));  // the workload may have been made from a started Job
    if (pod_sets[0].min_count) set_count(result, pod_sets[0].count);
    return result;
  }
};

}  // namespace

const JobAdapter& batch_job() {
  static const BatchJob adapter;
  return adapter;
}

}  // namespace berth::jobs
