#include "embedded/cluster/job_sync.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "embedded/cluster/job_policies.h"
#include "embedded/cluster/job_status.h"

namespace berth::cluster {
namespace {

constexpr Duration kFirstBackoff = std::chrono::seconds(10);
constexpr Duration kMaxBackoff = std::chrono::minutes(10);

Duration backoff_after(std::int64_t failures) {
  Duration out = kFirstBackoff;
  for (std::int64_t i = 1; i < failures && out < kMaxBackoff; ++i) out *= 2;
  return std::min(out, kMaxBackoff);
}

struct Ending {  // why a job is about to finish
  bool success = false;
  std::string reason, message;
};

class Planner {
 public:
  explicit Planner(const JobView& view)
      : view_(view), spec_(view.job), old_status_(view.job, spec_), status_(view.job, spec_), backoff_(view.backoff) {
    for (const auto& pod : view.pods) pods_.push_back(&pod);
    std::sort(pods_.begin(), pods_.end(), [](const JobPod* a, const JobPod* b) { return a->uid < b->uid; });
  }

  JobStep run() {
    if (!spec_.ours) return {};
    if (old_status_.finished()) return after_the_end();
    look();
    decide();
    if (write_down_first_) return write();
    if (change_pods()) return std::move(step_);
    settle();
    return write();
  }

 private:
  // The state of the job.
  // -------------------------------------------------------------------------------------------

  bool recorded(const JobPod& pod) const {
    return status_.uncounted_succeeded.contains(pod.uid) || status_.uncounted_failed.contains(pod.uid) ||
           (pod.succeeded() && pod.index && status_.completed_indexes.contains(*pod.index));
  }
  bool counts_for_an_index(const JobPod& pod) const { return pod.index && *pod.index < spec_.index_limit(); }

  void look() {
    for (const auto* pod : pods_) {
      if (pod->active()) {
        active_.push_back(pod);
        if (pod->ready_since) ++ready_;
      } else if (pod->terminating()) {
        ++terminating_;
      }
    }
    find_ended_pods();
    if (spec_.backoff_limit_per_index) look_at_failed_indexes();
    if (spec_.indexed) {
      for (const auto* pod : new_succeeded_) status_.completed_indexes.add(*pod->index);
      succeeded_ = status_.completed_indexes.count();
    } else {
      succeeded_ =
          status_.succeeded + static_cast<std::int64_t>(status_.uncounted_succeeded.size() + new_succeeded_.size());
    }
    failed_ = status_.failed + static_cast<std::int64_t>(status_.uncounted_failed.size() + new_failed_.size());
  }

  // Finds terminated pods that are not recorded yet.
  void find_ended_pods() {
    for (const auto* pod : pods_) {
      if (!pod->tracked || recorded(*pod)) continue;
      if (pod->succeeded()) {
        if (!spec_.indexed || counts_for_an_index(*pod)) new_succeeded_.push_back(pod);
      } else if (pod->failed(spec_)) {
        const auto verdict = judge_failure(view_.job, *pod);
        verdicts_.emplace(pod, verdict);
        if (verdict.action == FailureAction::kFailJob && fail_job_message_.empty()) fail_job_message_ = verdict.message;
        if (verdict.action != FailureAction::kIgnore) new_failed_.push_back(pod);
      }
    }
    // For the backoff, in the order in which they terminated.
    std::vector<const JobPod*> ended = new_succeeded_;
    ended.insert(ended.end(), new_failed_.begin(), new_failed_.end());
    std::stable_sort(ended.begin(), ended.end(),
                     [](const JobPod* a, const JobPod* b) { return a->finished < b->finished; });
    for (const auto* pod : ended) {
      if (pod->succeeded()) {
        backoff_ = {};
      } else {
        ++backoff_.failures;
        backoff_.last_failure = std::max(backoff_.last_failure, pod->finished);
      }
    }
  }

  // With a backoff limit per index, the last failed pod of an index keeps its finalizer, and with it the index's
  // failure count, until a new pod takes over the count.
  void look_at_failed_indexes() {
    std::map<std::int64_t, const JobPod*> last;
    std::set<std::int64_t> alive;
    for (const auto* pod : pods_) {
      if (!counts_for_an_index(*pod)) continue;
      if (pod->active()) alive.insert(*pod->index);
      if (!pod->tracked || !pod->failed(spec_) || recorded(*pod)) continue;
      const auto verdict = verdict_of(pod);
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
      last_failed_.emplace(index, pod);
      if (!alive.contains(index)) held_.insert(pod);
    }
  }

  FailureAction verdict_of(const JobPod* pod) const {
    const auto at = verdicts_.find(pod);
    return at == verdicts_.end() ? FailureAction::kCount : at->second.action;
  }

  // The next state.
  // --------------------------------------------------------------------------------------------------

  void decide() {
    if (const Json* met = status_.get("SuccessCriteriaMet")) {
      ending_ = {true, std::string(string_at(*met, {"reason"})), std::string(string_at(*met, {"message"}))};
    } else if (const Json* target = status_.get("FailureTarget")) {
      ending_ = {false, std::string(string_at(*target, {"reason"})), std::string(string_at(*target, {"message"}))};
    } else if (!spec_.deleting) {
      ending_ = new_ending();
      if (ending_) {
        status_.set(ending_->success ? "SuccessCriteriaMet" : "FailureTarget", true, ending_->reason, ending_->message,
                    view_.now);
        write_down_first_ = true;
      }
    }
    write_down_ended_pods();
  }

  std::optional<Ending> new_ending() {
    if (!fail_job_message_.empty()) return Ending{false, "PodFailurePolicy", fail_job_message_};
    if (failed_ > spec_.backoff_limit || restarted_too_often()) {
      return Ending{false, "BackoffLimitExceeded", "Job has reached the specified backoff limit"};
    }
    if (past_deadline()) {
      return Ending{false, "DeadlineExceeded", "Job was active longer than specified deadline"};
    }
    if (auto failed = failed_by_indexes()) return failed;
    if (spec_.indexed && spec_.completions) {
      if (auto met = success_policy_met(view_.job, status_.completed_indexes, *spec_.completions)) {
        return Ending{true, "SuccessPolicy", *met};
      }
    }
    const bool complete = spec_.completions ? succeeded_ >= *spec_.completions : succeeded_ > 0;
    if (complete && active_.empty()) {
      return Ending{true, "CompletionsReached", "Reached expected number of succeeded pods"};
    }
    return std::nullopt;
  }

  std::optional<Ending> failed_by_indexes() const {
    if (!spec_.backoff_limit_per_index) return std::nullopt;
    const auto failed = status_.failed_indexes.count();
    if (spec_.max_failed_indexes && failed > *spec_.max_failed_indexes) {
      return Ending{false, "MaxFailedIndexesExceeded",
                    "Job has exceeded the specified maximal number of failed indexes"};
    }
    if (failed > 0 && succeeded_ + failed >= spec_.index_limit()) {
      return Ending{false, "FailedIndexes", "Job has failed indexes"};
    }
    return std::nullopt;
  }

  bool restarted_too_often() const {
    if (!spec_.restarts_in_place) return false;
    std::int64_t restarts = 0;
    for (const auto* pod : pods_) {
      if (pod->phase == "Running" || pod->phase == "Pending") restarts += pod->restarts;
    }
    return spec_.backoff_limit == 0 ? restarts > 0 : restarts >= spec_.backoff_limit;
  }

  bool past_deadline() {
    if (!spec_.active_deadline_seconds || !status_.start_time || spec_.suspended) return false;
    const Time deadline = *status_.start_time + std::chrono::seconds(*spec_.active_deadline_seconds);
    if (view_.now >= deadline) return true;
    wake_at(deadline);
    return false;
  }

  void write_down_ended_pods() {
    if (spec_.indexed) {
      write_down_first_ = write_down_first_ || !new_succeeded_.empty();
    } else {
      for (const auto* pod : new_succeeded_) write_down(status_.uncounted_succeeded, *pod);
    }
    for (const auto* pod : new_failed_) {
      if (!held_.contains(pod) || ending_ || spec_.deleting) write_down(status_.uncounted_failed, *pod);
    }
    if (!ending_ || ending_->success) return;
    // A failed job terminates all its pods.
    for (const auto* pod : pods_) {
      if (pod->tracked && !pod->ended() && !recorded(*pod)) write_down(status_.uncounted_failed, *pod);
    }
  }

  void write_down(std::set<std::string, std::less<>>& list, const JobPod& pod) {
    write_down_first_ = list.insert(pod.uid).second || write_down_first_;
  }

  // Changes of pods.
  // ---------------------------------------------------------------------------------------

  bool change_pods() {
    release_pods();
    if (ending_) {
      for (const auto* pod : active_) step_.remove.push_back(*pod);
    } else if (!spec_.deleting) {
      manage();
    }
    if (step_.remove.size() > kMaxPodChanges) {
      step_.remove.erase(step_.remove.begin() + static_cast<std::ptrdiff_t>(kMaxPodChanges), step_.remove.end());
    }
    const bool any = !step_.create.empty() || !step_.remove.empty() || !step_.release.empty();
    if (any) step_.kind = JobStep::Kind::kChangePods;
    return any;
  }

  void release_pods() {
    for (const auto* pod : pods_) {
      if (!pod->tracked) continue;
      // A second succeeded pod of a completed index, or a pod with an index beyond the completions, is not counted.
      const bool counts_for_nothing = pod->succeeded() && spec_.indexed;
      const bool ignored = pod->failed(spec_) && verdict_of(pod) == FailureAction::kIgnore && !held_.contains(pod);
      if (recorded(*pod) || counts_for_nothing || ignored || ending_ || spec_.deleting) step_.release.push_back(*pod);
    }
  }

  // Deletes pods that the job does not need any more, without counting them.
  void remove_uncounted(std::vector<const JobPod*> pods) {
    if (pods.size() > kMaxPodChanges) pods.resize(kMaxPodChanges);
    for (const auto* pod : pods) {
      if (pod->tracked) step_.release.push_back(*pod);
      step_.remove.push_back(*pod);
    }
  }

  std::int64_t wanted() const {
    if (!spec_.completions) {
      return succeeded_ > 0 ? static_cast<std::int64_t>(active_.size()) : spec_.parallelism;
    }
    std::int64_t left = *spec_.completions - succeeded_;
    if (spec_.backoff_limit_per_index) left -= status_.failed_indexes.count();
    return std::clamp<std::int64_t>(left, 0, spec_.parallelism);
  }

  void manage() {
    if (spec_.suspended) return remove_uncounted(active_);
    const std::int64_t want = wanted();
    auto superfluous = superfluous_pods(static_cast<std::int64_t>(active_.size()) - want);
    if (!superfluous.empty()) return remove_uncounted(std::move(superfluous));
    const std::int64_t missing =
        want - static_cast<std::int64_t>(active_.size()) - (spec_.only_replace_failed ? terminating_ : 0);
    if (missing <= 0 || !view_.may_create) return;
    if (!spec_.backoff_limit_per_index && backoff_.failures > 0) {
      const Time next = backoff_.last_failure + backoff_after(backoff_.failures);
      if (next > view_.now) return wake_at(next);
    }
    create(std::min<std::int64_t>(missing, static_cast<std::int64_t>(kMaxPodChanges)));
  }

  // Duplicate pods of an index and pods of unwanted indexes, then more pods until `too_many` are found.
  std::vector<const JobPod*> superfluous_pods(std::int64_t too_many) const {
    std::vector<const JobPod*> ordered = active_;
    std::sort(ordered.begin(), ordered.end(), [](const JobPod* a, const JobPod* b) { return removed_before(*a, *b); });
    std::vector<const JobPod*> out, rest;
    std::set<std::int64_t> kept;
    for (auto at = ordered.rbegin(); at != ordered.rend(); ++at) {
      const JobPod* pod = *at;
      const bool misplaced =
          spec_.indexed && (!counts_for_an_index(*pod) || status_.completed_indexes.contains(*pod->index) ||
                            status_.failed_indexes.contains(*pod->index) || !kept.insert(*pod->index).second);
      (misplaced ? out : rest).push_back(pod);
    }
    while (static_cast<std::int64_t>(out.size()) < too_many && !rest.empty()) {
      out.push_back(rest.back());
      rest.pop_back();
    }
    return out;
  }

  void create(std::int64_t count) {
    if (!spec_.indexed) {
      for (std::int64_t i = 0; i < count; ++i) step_.create.push_back(make_pod(view_.job, spec_, {}));
      return;
    }
    std::set<std::int64_t> taken;
    for (const auto* pod : pods_) {
      if (counts_for_an_index(*pod) && (pod->active() || (spec_.only_replace_failed && pod->terminating()))) {
        taken.insert(*pod->index);
      }
    }
    for (std::int64_t index = 0; index < spec_.index_limit() && count > 0; ++index) {
      if (taken.contains(index) || status_.completed_indexes.contains(index) ||
          status_.failed_indexes.contains(index)) {
        continue;
      }
      NewPod pod{index};
      if (!may_retry(index, pod)) continue;
      step_.create.push_back(make_pod(view_.job, spec_, pod));
      --count;
    }
  }

  bool may_retry(std::int64_t index, NewPod& pod) {
    const auto at = last_failed_.find(index);
    if (at == last_failed_.end()) return true;
    const JobPod& last = *at->second;
    const bool ignored = verdict_of(&last) == FailureAction::kIgnore;
    pod.failures = last.index_failures + (ignored ? 0 : 1);
    pod.ignored_failures = last.index_ignored_failures + (ignored ? 1 : 0);
    const Time next = last.finished + backoff_after(pod.failures + pod.ignored_failures);
    if (next <= view_.now) return true;
    wake_at(next);
    return false;
  }

  // The status to write when the pods are as they should be.
  // --------------------------------------------------------------

  void settle() {
    count_released_pods();
    if (!ending_ && !spec_.deleting) set_suspended();
    if (!ending_ || !status_.uncounted_succeeded.empty() || !status_.uncounted_failed.empty()) return;
    if (!active_.empty() || terminating_ > 0) return;
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
    for (const auto* pod : pods_) {
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
    status_.active = static_cast<std::int64_t>(active_.size());
    status_.ready = ready_;
    status_.terminating = terminating_;
    if (spec_.indexed) status_.succeeded = succeeded_;
    Json encoded = status_.encode();
    const bool written_before = find_path(view_.job, {"status", "terminating"}) != nullptr;
    if (written_before && json_equal(encoded, old_status_.encode())) {
      step_.kind = JobStep::Kind::kNothing;
      step_.events.clear();
      return std::move(step_);
    }
    step_.kind = JobStep::Kind::kWriteStatus;
    step_.status = std::move(encoded);
    step_.backoff = backoff_;
    return std::move(step_);
  }

  JobStep after_the_end() {
    for (const auto* pod : pods_) {
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
  JobBackoff backoff_;
  std::vector<const JobPod*> pods_;  // by UID

  std::vector<const JobPod*> active_, new_succeeded_, new_failed_;
  std::map<const JobPod*, FailureVerdict> verdicts_;   // for lookup only: the order of pointers is not deterministic
  std::map<std::int64_t, const JobPod*> last_failed_;  // by index, for indexes that may be retried
  std::set<const JobPod*> held_;                       // for lookup only: the order of pointers is not deterministic
  std::int64_t ready_ = 0, terminating_ = 0, succeeded_ = 0, failed_ = 0;
  std::string fail_job_message_;
  std::optional<Ending> ending_;
  bool write_down_first_ = false;
  JobStep step_;
};

}  // namespace

JobStep next_step(const JobView& view) { return Planner(view).run(); }

}  // namespace berth::cluster
