#include "embedded/cluster/job_sync.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "embedded/cluster/job_ending.h"
#include "embedded/cluster/job_pod_changes.h"
#include "embedded/cluster/job_status.h"
#include "embedded/cluster/job_survey.h"

namespace berth::cluster {
namespace {

class Planner {
 public:
  explicit Planner(const JobView& view)
      : view_(view), spec_(view.job), old_status_(view.job, spec_), status_(view.job, spec_) {}

  JobStep run() {
    if (!spec_.ours) return {};
    if (old_status_.finished()) return after_the_end();
    survey_ = survey_pods(view_, spec_, status_);
    decide_ending();
    write_down_ended_pods();
    if (write_down_first_) return write();
    if (change_pods()) return std::move(step_);
    settle();
    return write();
  }

 private:
  // --- What to write down before pods change.

  void decide_ending() {
    ending_ = recorded_ending(status_);
    if (ending_ || spec_.deleting) return;
    const EndingCheck check = check_ending(view_, spec_, status_, survey_);
    if (check.deadline) wake_at(*check.deadline);
    ending_ = check.ending;
    if (!ending_) return;
    status_.set(ending_->success ? "SuccessCriteriaMet" : "FailureTarget", true, ending_->reason, ending_->message,
                view_.now);
    write_down_first_ = true;
  }

  void write_down_ended_pods() {
    if (spec_.indexed) {
      write_down_first_ = write_down_first_ || !survey_.new_succeeded.empty();
    } else {
      for (const auto* pod : survey_.new_succeeded) write_down(status_.uncounted_succeeded, *pod);
    }
    for (const auto* pod : survey_.new_failed) {
      if (!survey_.held.contains(pod) || ending_ || spec_.deleting) write_down(status_.uncounted_failed, *pod);
    }
    if (!ending_ || ending_->success) return;
    // A failed job terminates all its pods.
    for (const auto* pod : survey_.pods) {
      if (pod->tracked && !pod->ended() && !status_.records(*pod)) write_down(status_.uncounted_failed, *pod);
    }
  }

  void write_down(std::set<std::string, std::less<>>& list, const JobPod& pod) {
    write_down_first_ = list.insert(pod.uid).second || write_down_first_;
  }

  bool change_pods() {
    PodChanges changes = pod_changes(view_, spec_, status_, survey_, ending_.has_value());
    if (changes.wake) wake_at(*changes.wake);
    if (changes.empty()) return false;
    step_.kind = JobStep::Kind::kChangePods;
    step_.create = std::move(changes.create);
    step_.release = std::move(changes.release);
    step_.remove = std::move(changes.remove);
    return true;
  }

  // --- The status to write when the pods are as they should be.

  void settle() {
    count_released_pods();
    if (!ending_ && !spec_.deleting) set_suspended();
    if (!ending_ || !status_.uncounted_succeeded.empty() || !status_.uncounted_failed.empty()) return;
    if (!survey_.active.empty() || survey_.terminating > 0) return;
    // The job was suspended when its pods terminated, which removed its start time: the API requires a start time for
    // a finished job.
    if (!status_.start_time) status_.start_time = to_seconds(view_.now);
    status_.set(ending_->success ? "Complete" : "Failed", true, ending_->reason, ending_->message, view_.now);
    if (ending_->success) {
      status_.completion_time = to_seconds(view_.now);
      step_.events.push_back({false, "Completed", "Job completed"});
    } else {
      step_.events.push_back({true, ending_->reason, ending_->message});
    }
  }

  void count_released_pods() {
    std::set<std::string_view> tracked;
    for (const auto* pod : survey_.pods) {
      if (pod->tracked) tracked.insert(pod->uid);
    }
    const auto count = [&](auto& uncounted) {
      return static_cast<std::int64_t>(
          std::erase_if(uncounted, [&](const auto& uid) { return !tracked.contains(uid); }));
    };
    status_.succeeded += count(status_.uncounted_succeeded);
    status_.failed += count(status_.uncounted_failed);
  }

  void set_suspended() {
    if (spec_.suspended) {
      status_.start_time.reset();
      if (status_.set("Suspended", true, "JobSuspended", "Job suspended", view_.now)) {
        step_.events.push_back({false, "Suspended", "Job suspended"});
      }
      return;
    }
    if (status_.set("Suspended", false, "JobResumed", "Job resumed", view_.now)) {
      status_.start_time = to_seconds(view_.now);
      step_.events.push_back({false, "Resumed", "Job resumed"});
    }
    if (!status_.start_time) status_.start_time = to_seconds(view_.now);
  }

  JobStep write() {
    status_.active = static_cast<std::int64_t>(survey_.active.size());
    status_.ready = survey_.ready;
    status_.terminating = survey_.terminating;
    if (spec_.indexed) status_.succeeded = survey_.succeeded;
    Json encoded = status_.encode();
    const bool written_before = find_path(view_.job, {"status", "terminating"}) != nullptr;
    if (written_before && json_equal(encoded, old_status_.encode())) {
      step_.kind = JobStep::Kind::kNothing;
      step_.events.clear();
      return std::move(step_);
    }
    step_.kind = JobStep::Kind::kWriteStatus;
    step_.status = std::move(encoded);
    step_.backoff = survey_.backoff;
    return std::move(step_);
  }

  JobStep after_the_end() {
    for (const auto* pod : pods_by_uid(view_)) {
      if (pod->tracked) step_.release.push_back(*pod);
    }
    if (!step_.release.empty()) {
      step_.kind = JobStep::Kind::kChangePods;
      return std::move(step_);
    }
    if (!spec_.ttl_seconds || spec_.deleting) return {};
    const Json* end = old_status_.get("Complete");
    if (end == nullptr) end = old_status_.get("Failed");
    const auto ended = parse_time(string_at(*end, {"lastTransitionTime"}));
    const Time due = ended.value_or(view_.now) + std::chrono::seconds(*spec_.ttl_seconds);
    if (due <= view_.now) {
      step_.kind = JobStep::Kind::kDeleteJob;
    } else {
      wake_at(due);
    }
    return std::move(step_);
  }

  void wake_at(Time when) {
    if (!step_.wake || when < *step_.wake) step_.wake = when;
  }

  const JobView& view_;
  const JobSpec spec_;
  const JobStatus old_status_;
  JobStatus status_;  // the new status
  JobSurvey survey_;
  std::optional<JobEnding> ending_;
  bool write_down_first_ = false;
  JobStep step_;
};

}  // namespace

JobStep next_step(const JobView& view) { return Planner(view).run(); }

}  // namespace berth::cluster
