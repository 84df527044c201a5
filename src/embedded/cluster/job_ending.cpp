#include "embedded/cluster/job_ending.h"

#include "embedded/cluster/job_policies.h"

namespace berth::cluster {
namespace {

JobEnding failure(std::string reason, std::string message) { return {false, std::move(reason), std::move(message)}; }

bool restarted_too_often(const JobSpec& spec, const JobSurvey& survey) {
  if (!spec.restarts_in_place) return false;
  std::int64_t restarts = 0;
  for (const auto* pod : survey.pods) {
    if (pod->phase == "Running" || pod->phase == "Pending") restarts += pod->restarts;
  }
  return spec.backoff_limit == 0 ? restarts > 0 : restarts >= spec.backoff_limit;
}

std::optional<Time> deadline_of(const JobSpec& spec, const JobStatus& status) {
  if (!spec.active_deadline_seconds || !status.start_time || spec.suspended) return std::nullopt;
  return *status.start_time + std::chrono::seconds(*spec.active_deadline_seconds);
}

std::optional<JobEnding> failed_by_indexes(const JobSpec& spec, const JobStatus& status, const JobSurvey& survey) {
  if (!spec.backoff_limit_per_index) return std::nullopt;
  const auto failed = status.failed_indexes.count();
  if (spec.max_failed_indexes && failed > *spec.max_failed_indexes) {
    return failure("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes");
  }
  if (failed > 0 && survey.succeeded + failed >= spec.index_limit())
    return failure("FailedIndexes", "Job has failed indexes");
  return std::nullopt;
}

std::optional<JobEnding> success_of(const JobView& view, const JobSpec& spec, const JobStatus& status,
                                    const JobSurvey& survey) {
  if (spec.indexed && spec.completions) {
    if (auto met = success_policy_met(view.job, status.completed_indexes, *spec.completions)) {
      return JobEnding{true, "SuccessPolicy", *met};
    }
  }
  const bool complete = spec.completions ? survey.succeeded >= *spec.completions : survey.succeeded > 0;
  if (complete && survey.active.empty()) {
    return JobEnding{true, "CompletionsReached", "Reached expected number of succeeded pods"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<JobEnding> recorded_ending(const JobStatus& status) {
  for (const auto& [condition, success] : {std::pair("SuccessCriteriaMet", true), std::pair("FailureTarget", false)}) {
    if (const Json* found = status.get(condition))
      return JobEnding{success, std::string(string_at(*found, {"reason"})),
                       std::string(string_at(*found, {"message"}))};
  }
  return std::nullopt;
}

EndingCheck check_ending(const JobView& view, const JobSpec& spec, const JobStatus& status, const JobSurvey& survey) {
  if (!survey.fail_job_message.empty()) return {failure("PodFailurePolicy", survey.fail_job_message), {}};
  if (survey.failed > spec.backoff_limit || restarted_too_often(spec, survey)) {
    return {failure("BackoffLimitExceeded", "Job has reached the specified backoff limit"), {}};
  }
  const std::optional<Time> deadline = deadline_of(spec, status);
  if (deadline && view.now >= *deadline) {
    return {failure("DeadlineExceeded", "Job was active longer than specified deadline"), {}};
  }
  if (auto failed = failed_by_indexes(spec, status, survey)) return {failed, deadline};
  return {success_of(view, spec, status, survey), deadline};
}

}  // namespace berth::cluster
