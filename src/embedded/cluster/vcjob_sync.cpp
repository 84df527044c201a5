#include "embedded/cluster/vcjob_sync.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace berth::cluster {
namespace {

using api::volcano::Job;
using api::volcano::JobPhase;
using api::volcano::JobStatus;
using api::volcano::PodGroupPhase;
using api::volcano::Task;

std::int32_t least_of(const Task& task) { return std::min(task.min_available.value_or(task.replicas), task.replicas); }

// The phase that an action leads to from the current phase; none: the action has no effect in this phase.
std::optional<JobPhase> target_of(std::string_view action, JobPhase now) {
  const bool working = now == JobPhase::kPending || now == JobPhase::kRunning;
  const bool restarting = now == JobPhase::kRestarting;
  if (action == "AbortJob" && (working || restarting)) return JobPhase::kAborting;
  if (action == "TerminateJob" && (working || restarting)) return JobPhase::kTerminating;
  if (action == "CompleteJob" && working) return JobPhase::kCompleting;
  if (action == "RestartJob" && working) return JobPhase::kRestarting;
  if (action == "ResumeJob" && (now == JobPhase::kAborting || now == JobPhase::kAborted)) return JobPhase::kPending;
  return std::nullopt;
}

class Planner {
 public:
  explicit Planner(const VcJobView& view) : view_(view), job_(view.job), status_(view.job.status) {
    for (const auto& pod : view.pods) pods_.push_back(&pod);
    std::sort(pods_.begin(), pods_.end(), [](const VcJobPod* a, const VcJobPod* b) { return a->name < b->name; });
  }

  VcJobStep run() {
    if (find_path(view_.object, {"metadata", "deletionTimestamp"}) != nullptr) return {};
    count();
    if (status_.phase == JobPhase::kNone) return become(JobPhase::kPending, "");
    if (!view_.order.empty()) return follow_order();
    switch (status_.phase) {
      case JobPhase::kPending:
      case JobPhase::kRunning:
        work();
        break;
      case JobPhase::kAborting:
      case JobPhase::kTerminating:
      case JobPhase::kCompleting:
      case JobPhase::kRestarting:
        stop();
        break;
      default:
        rest();
    }
    if (!step_.status && status_ != job_.status) step_.status = status_;
    return std::move(step_);
  }

 private:
  // --- The state of the job.

  bool current(const VcJobPod& pod) const { return pod.version == status_.version; }

  void count() {
    status_.pending = status_.running = status_.succeeded = status_.failed = status_.terminating = status_.unknown = 0;
    for (const VcJobPod* pod : pods_) {
      if (!current(*pod)) continue;
      if (pod->succeeded()) {
        ++status_.succeeded;
        ++succeeded_of_[pod->task];
      } else if (pod->failed()) {
        ++status_.failed;
      } else if (pod->deleting) {
        ++status_.terminating;
      } else if (pod->phase == "Running") {
        ++status_.running;
      } else {
        ++(pod->phase == "Unknown" ? status_.unknown : status_.pending);
      }
    }
    least_ = 0;
    for (const Task& task : job_.tasks) least_ += least_of(task);
    status_.min_available = job_.min_available.value_or(0) == 0 ? least_ : *job_.min_available;
  }

  // Changes the phase, and nothing else: the next call computes what follows from it.
  VcJobStep become(JobPhase phase, std::string reason) {
    if (phase == JobPhase::kRestarting) ++status_.retry_count;
    // A resumed or restarted job gets new pods. A running job that becomes Pending again keeps its terminated pods.
    const bool anew = status_.phase != JobPhase::kNone && status_.phase != JobPhase::kRunning;
    if (phase == JobPhase::kPending && anew) ++status_.version;
    status_.phase = phase;
    status_.reason = std::move(reason);
    status_.message.clear();
    status_.last_transition = to_seconds(view_.now);
    step_ = {};
    step_.status = status_;
    return std::move(step_);
  }

  VcJobStep follow_order() {
    if (const auto target = target_of(view_.order, status_.phase)) return become(*target, "CommandIssued");
    step_.order_done = true;
    return std::move(step_);
  }

  // --- Pending and Running.

  void work() {
    if (const auto target = by_policy()) {
      step_ = become(*target, "PolicyApplied");
      return;
    }
    if (const auto end = finished()) {
      step_ = become(*end, "");
      return;
    }
    const bool let_in = is_let_in();
    const bool enough = status_.running + status_.succeeded >= status_.min_available && status_.running > 0;
    if (status_.phase == JobPhase::kPending && enough) {
      step_ = become(JobPhase::kRunning, "");
      return;
    }
    // The group lost its quota: the job waits as at the beginning.
    const bool waits_again =
        view_.group != nullptr && !let_in && status_.running + status_.pending + status_.terminating == 0;
    if (status_.phase == JobPhase::kRunning && waits_again) {
      step_ = become(JobPhase::kPending, "");
      return;
    }
    arrange_pods(let_in);
    if (view_.group == nullptr) step_.create_group = true;
  }

  bool is_let_in() const {
    if (view_.group == nullptr) return false;
    const PodGroupPhase phase = view_.group->status.phase;
    return phase == PodGroupPhase::kInqueue || phase == PodGroupPhase::kRunning || phase == PodGroupPhase::kUnknown;
  }

  // The number of pods per task that the group's quota covers; the other pods wait for quota of their own.
  std::map<std::string_view, std::int32_t> minimum_by_task() const {
    std::map<std::string_view, std::int32_t> out;
    std::int32_t left = view_.group == nullptr ? 0 : std::max(view_.group->min_member, 1);
    for (const bool all : {false, true}) {
      for (const Task& task : job_.tasks) {
        std::int32_t& count = out[task.name];
        const std::int32_t more = std::min(left, (all ? task.replicas : least_of(task)) - count);
        count += more;
        left -= more;
      }
    }
    return out;
  }

  void arrange_pods(bool let_in) {
    std::set<std::string_view> there;
    for (const VcJobPod* pod : pods_) there.insert(pod->name);
    std::set<std::string> wanted;
    auto minimum = minimum_by_task();
    for (const Task& task : job_.tasks) {
      for (std::int32_t i = 0; i < task.replicas; ++i) {
        const std::string& name = *wanted.insert(vcjob_pod_name(job_, task, i)).first;
        const bool room = step_.create.size() < kMaxVcJobPods;
        if (let_in && view_.may_create && room && !there.contains(name))
          step_.create.push_back(make_vcjob_pod(job_, task, i, view_.group->meta.name, i >= minimum[task.name]));
      }
    }
    for (const VcJobPod* pod : pods_)
      if (!pod->deleting && (!current(*pod) || !wanted.contains(pod->name))) step_.remove.push_back(pod->object);
  }

  // The final phase that the pods have caused, by the API's definition of success.
  std::optional<JobPhase> finished() const {
    std::int64_t all = 0;
    for (const Task& task : job_.tasks) all += task.replicas;
    const std::int64_t must_succeed = int_at(view_.object, {"spec", "minSuccess"});
    if (must_succeed > 0 && status_.succeeded >= must_succeed) return JobPhase::kCompleted;
    if (all == 0 || status_.succeeded + status_.failed < all) return std::nullopt;
    if (must_succeed > 0 || status_.succeeded < status_.min_available) return JobPhase::kFailed;
    if (status_.min_available < least_) return JobPhase::kCompleted;
    const bool each = std::all_of(job_.tasks.begin(), job_.tasks.end(), [&](const Task& task) {
      const auto at = succeeded_of_.find(task.name);
      return least_of(task) <= (at == succeeded_of_.end() ? 0 : at->second);
    });
    return each ? JobPhase::kCompleted : JobPhase::kFailed;
  }

  // --- Policies: a task's policies come before those of the job.

  std::optional<JobPhase> by_policy() const {
    const JsonArray& tasks = array_at(view_.object, {"spec", "tasks"});
    for (const VcJobPod* pod : pods_) {
      const bool evicted = pod->deleting && !pod->ended() && is_let_in();
      if (!current(*pod) || (!pod->failed() && !evicted)) continue;
      const std::string_view event = pod->failed() ? "PodFailed" : "PodEvicted";
      if (const auto target = ordered_for(pod->task, event, pod->failed() ? pod->exit_code : 0, tasks)) return target;
    }
    for (const Task& task : job_.tasks) {
      const auto at = succeeded_of_.find(task.name);
      if (task.replicas == 0 || at == succeeded_of_.end() || at->second < task.replicas) continue;
      if (const auto target = ordered_for(task.name, "TaskCompleted", 0, tasks)) return target;
    }
    return std::nullopt;
  }

  std::optional<JobPhase> ordered_for(std::string_view task, std::string_view event, std::int64_t exit_code,
                                      const JsonArray& tasks) const {
    for (std::size_t i = 0; i < tasks.size() && i < job_.tasks.size(); ++i) {
      if (job_.tasks[i].name != task) continue;
      for (const Json& policy : array_at(tasks[i], {"policies"}))
        if (applies(policy, event, exit_code)) return target_of(string_at(policy, {"action"}), status_.phase);
    }
    for (const Json& policy : array_at(view_.object, {"spec", "policies"}))
      if (applies(policy, event, exit_code)) return target_of(string_at(policy, {"action"}), status_.phase);
    return std::nullopt;
  }

  static bool applies(const Json& policy, std::string_view event, std::int64_t exit_code) {
    const auto matches = [&](std::string_view wanted) {
      return wanted == event || (wanted == "*" && event != "TaskCompleted");
    };
    if (matches(string_at(policy, {"event"}))) return true;
    for (const Json& one : array_at(policy, {"events"}))
      if (one.is_string() && matches(berth::view(one.get_string()))) return true;
    return exit_code != 0 && optional_int_at(policy, {"exitCode"}) == exit_code;
  }

  // --- Aborting, Terminating, Completing, Restarting: delete the pods, then the PodGroup, which releases the quota.

  bool remove_alive() {
    bool any = false;
    for (const VcJobPod* pod : pods_) {
      if (pod->ended()) continue;
      any = true;
      if (!pod->deleting) step_.remove.push_back(pod->object);
    }
    return any;
  }

  void stop() {
    if (remove_alive()) return;
    if (view_.group != nullptr) {
      step_.delete_group = true;
      return;
    }
    switch (status_.phase) {
      case JobPhase::kAborting:
        step_ = become(JobPhase::kAborted, status_.reason);
        return;
      case JobPhase::kTerminating:
        step_ = become(JobPhase::kTerminated, status_.reason);
        return;
      case JobPhase::kCompleting:
        step_ = become(JobPhase::kCompleted, status_.reason);
        return;
      default:
        step_ = become(status_.retry_count >= job_.max_retry ? JobPhase::kFailed : JobPhase::kPending, status_.reason);
    }
  }

  void rest() {
    remove_alive();
    const auto ttl = optional_int_at(view_.object, {"spec", "ttlSecondsAfterFinished"});
    if (!ttl || !is_over(status_.phase)) return;
    const Time due = status_.last_transition + std::chrono::seconds(*ttl);
    if (due <= view_.now) {
      step_.delete_job = true;
    } else {
      step_.wake = due;
    }
  }

  const VcJobView& view_;
  const Job& job_;
  JobStatus status_;                                               // the new status
  std::vector<const VcJobPod*> pods_;                              // by name
  std::map<std::string, std::int32_t, std::less<>> succeeded_of_;  // by task
  std::int32_t least_ = 0;                                         // the sum of the tasks' minimums
  VcJobStep step_;
};

}  // namespace

VcJobStep next_step(const VcJobView& view) { return Planner(view).run(); }

bool is_over(JobPhase phase) {
  return phase == JobPhase::kCompleted || phase == JobPhase::kFailed || phase == JobPhase::kTerminated;
}

}  // namespace berth::cluster
