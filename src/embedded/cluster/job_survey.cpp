#include "embedded/cluster/job_survey.h"

#include <algorithm>
#include <tuple>

namespace berth::cluster {
namespace {

class Surveyor {
 public:
  Surveyor(const JobView& view, const JobSpec& spec, JobStatus& status) : view_(view), spec_(spec), status_(status) {
    out_.backoff = view.backoff;
    out_.pods = pods_by_uid(view);
  }

  JobSurvey run() {
    for (const auto* pod : out_.pods) {
      if (pod->active()) {
        out_.active.push_back(pod);
        if (pod->ready_since) ++out_.ready;
      } else if (pod->terminating()) {
        ++out_.terminating;
      }
    }
    find_ended_pods();
    count_failures();
    if (spec_.backoff_limit_per_index) look_at_failed_indexes();
    count();
    return std::move(out_);
  }

 private:
  // Finds terminated pods that are not recorded yet.
  void find_ended_pods() {
    for (const auto* pod : out_.pods) {
      if (!pod->tracked || status_.records(*pod)) continue;
      if (pod->succeeded()) {
        if (!spec_.indexed || spec_.counts_index_of(*pod)) out_.new_succeeded.push_back(pod);
      } else if (pod->failed(spec_)) {
        const auto verdict = judge_failure(view_.job, *pod);
        out_.verdicts.emplace(pod, verdict);
        if (verdict.action == FailureAction::kFailJob && out_.fail_job_message.empty())
          out_.fail_job_message = verdict.message;
        if (verdict.action != FailureAction::kIgnore) out_.new_failed.push_back(pod);
      }
    }
  }

  // For the backoff, in the order in which the pods terminated.
  void count_failures() {
    std::vector<const JobPod*> ended = out_.new_succeeded;
    ended.insert(ended.end(), out_.new_failed.begin(), out_.new_failed.end());
    std::stable_sort(ended.begin(), ended.end(),
                     [](const JobPod* a, const JobPod* b) { return a->finished < b->finished; });
    JobBackoff& backoff = out_.backoff;
    for (const auto* pod : ended) {
      if (pod->succeeded()) {
        backoff = {};
      } else {
        ++backoff.failures;
        backoff.last_failure = std::max(backoff.last_failure, pod->finished);
      }
    }
  }

  // With a backoff limit per index, the last failed pod of an index keeps its finalizer, and with it the index's
  // failure count, until a new pod takes over the count.
  void look_at_failed_indexes() {
    std::map<std::int64_t, const JobPod*> last;
    std::set<std::int64_t> alive;
    for (const auto* pod : out_.pods) {
      if (!spec_.counts_index_of(*pod)) continue;
      if (pod->active()) alive.insert(*pod->index);
      if (!pod->tracked || !pod->failed(spec_) || status_.records(*pod)) continue;
      const auto verdict = out_.verdict_of(*pod);
      if (verdict == FailureAction::kFailIndex ||
          (verdict != FailureAction::kIgnore && pod->index_failures >= *spec_.backoff_limit_per_index)) {
        status_.failed_indexes.add(*pod->index);
      }
      auto& best = last[*pod->index];
      if (best == nullptr || std::tie(best->index_failures, best->index_ignored_failures, best->uid) <
                                 std::tie(pod->index_failures, pod->index_ignored_failures, pod->uid)) {
        best = pod;
      }
    }
    for (const auto& [index, pod] : last) {
      if (status_.failed_indexes.contains(index) || status_.completed_indexes.contains(index)) continue;
      out_.last_failed.emplace(index, pod);
      if (!alive.contains(index)) out_.held.insert(pod);
    }
  }

  void count() {
    if (spec_.indexed) {
      for (const auto* pod : out_.new_succeeded) status_.completed_indexes.add(*pod->index);
      out_.succeeded = status_.completed_indexes.count();
    } else {
      out_.succeeded =
          status_.succeeded + static_cast<std::int64_t>(status_.uncounted_succeeded.size() + out_.new_succeeded.size());
    }
    out_.failed = status_.failed + static_cast<std::int64_t>(status_.uncounted_failed.size() + out_.new_failed.size());
  }

  const JobView& view_;
  const JobSpec& spec_;
  JobStatus& status_;
  JobSurvey out_;
};

}  // namespace

FailureAction JobSurvey::verdict_of(const JobPod& pod) const {
  const auto at = verdicts.find(&pod);
  return at == verdicts.end() ? FailureAction::kCount : at->second.action;
}

std::vector<const JobPod*> pods_by_uid(const JobView& view) {
  std::vector<const JobPod*> out;
  for (const auto& pod : view.pods) out.push_back(&pod);
  std::sort(out.begin(), out.end(), [](const JobPod* a, const JobPod* b) { return a->uid < b->uid; });
  return out;
}

JobSurvey survey_pods(const JobView& view, const JobSpec& spec, JobStatus& status) {
  return Surveyor(view, spec, status).run();
}

}  // namespace berth::cluster
