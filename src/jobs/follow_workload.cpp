#include "jobs/follow_workload.h"

#include <algorithm>
#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/reclaimable_pods.h"
#include "base/merge_patch.h"
#include "base/planted.h"
#include "jobs/compose.h"
#include "jobs/slices.h"
#include "jobs/workload_steps.h"

namespace berth::jobs {

using namespace api::kueue;

// One request of a stop; the first one comes with an event.
void stop(const JobAdapter& adapter, const Json& job, const WorkloadPtr& workload, std::string_view message,
          std::vector<Step>& steps) {
  static const std::vector<PodSet> kNone;
  const bool first = !adapter.suspended(job);
  if (auto patch = adapter.next_stop(job, workload ? workload->pod_sets : kNone)) {
    steps.push_back(PatchJob{std::move(patch->body), std::move(patch->subresource), PatchJob::Aim::kStop, workload});
    if (first) steps.push_back(JobEvent{false, "Stopped", std::string(message)});
  }
}

namespace {

void start(const JobAdapter& adapter, const Json& job, const WorkloadPtr& workload, const JobFacts& facts,
           std::vector<Step>& steps) {
  if (auto missing = waits_for_flavor(*workload, facts.flavors)) return steps.push_back(std::move(*missing));
  const auto infos = pod_set_infos(*workload, facts.flavors);
  const Result<Json> started = infos ? adapter.started(job, *infos) : tl::unexpected(infos.error());
  if (!started) {
    steps.push_back(finish(workload, "FailedToStart", started.error().message));
    steps.push_back(JobEvent{true, "FailedToStart", started.error().message});
    return;
  }
  const auto before = adapter.before_start(*started);
  const auto change = [&](const Json& from, const Json& to) {
    steps.push_back(PatchJob{make_merge_patch(from, to), "", PatchJob::Aim::kStart, workload});
  };
  if (before && !json_equal(job, *before)) change(job, *before);
  change(before ? *before : job, *started);
  steps.push_back(JobEvent{false, "Started", "Admitted by clusterQueue " + workload->status.admission->cluster_queue});
}

// Whether the job is between the two writes of a start, as when the API server refused the second one. A job that is
// between the two writes of a stop looks the same, but its workload is evicted or does not describe it.
bool half_started(const JobAdapter& adapter, const Json& job, const Workload& workload, const JobFacts& facts) {
  if (!describes(workload, adapter.pod_sets(job), job, true, false)) return false;
  const auto infos = pod_set_infos(workload, facts.flavors);
  const Result<Json> started = infos ? adapter.started(job, *infos) : tl::unexpected(infos.error());
  const auto before = started ? adapter.before_start(*started) : std::nullopt;
  return before && json_equal(job, *before);
}

}  // namespace

void with_finished_workload(const JobAdapter& adapter, const Json& job, const WorkloadPtr& workload,
                            std::vector<Step>& steps) {
  if (!adapter.finished(job)) stop(adapter, job, workload, "The workload is finished", steps);
  if (!holds_finalizer(*workload)) return;
  steps.push_back(DropWorkloadFinalizer{workload});
  steps.push_back(declared_finished(*workload));
}

namespace {

// A slice of an elastic job may count other pods than the job asks for now: those that it does not need are done.
void fit_to_slice(const JobAdapter& adapter, const Json& job, const Workload& w, std::vector<ReclaimablePod>& now) {
  for (const auto& pod_set : adapter.pod_sets(job)) {
    const auto had = std::ranges::find(w.pod_sets, pod_set.name, &PodSet::name);
    const auto done = std::ranges::find(now, pod_set.name, &ReclaimablePod::name);
    if (had == w.pod_sets.end() || done == now.end()) continue;
    done->count = std::clamp(had->count - (pod_set.count - done->count), 0, had->count);
  }
  std::erase_if(now, [](const auto& each) { return each.count == 0; });
}

// Whether all pods that the workload has quota for are ready. Those that a job waits to grow by are not among them: a
// job that cannot count its ready pods stays as ready as it was.
bool pods_ready(const JobAdapter& adapter, const Json& job, const Workload& w) {
  if (adapter.pods_ready(job)) return true;
  if (!is_slice(w)) return false;
  bool grows = false;
  std::int64_t most = 0;
  for (const auto& pod_set : adapter.pod_sets(job)) {
    const auto had = std::ranges::find(w.pod_sets, pod_set.name, &PodSet::name);
    if (had == w.pod_sets.end()) return false;
    grows = grows || pod_set.count > had->count;
    most += std::min(pod_set.count, had->count);
  }
  if (!grows) return false;
  const auto ready = adapter.pods_that_are_ready(job);
  return ready ? *ready >= most : has_condition(w, kPodsReady);
}

}  // namespace

// The pods that are done, of all pods of the workload. Those that partial admission did not give the job count as done
// once others are. While the job holds quota, fewer than before count only when pods run: the status of a job that
// starts anew may be in the making.
std::vector<ReclaimablePod> reclaimable(const JobAdapter& adapter, const Json& job, const Workload& w) {
  auto now = adapter.reclaimable(job);
  if (is_slice(w)) fit_to_slice(adapter, job, w, now);
  const bool partial = std::ranges::any_of(w.pod_sets, [](const auto& one) { return one.min_count.has_value(); });
  for (const auto& pod_set : partial ? adapter.pod_sets(job) : std::vector<PodSet>()) {
    const auto whole = std::ranges::find(w.pod_sets, pod_set.name, &PodSet::name);
    if (whole == w.pod_sets.end() || !whole->min_count || whole->count <= pod_set.count) continue;
    const std::int32_t ended = reclaimable_of(now, pod_set.name);
    if (ended == 0 && reclaimable_of(w.status.reclaimable_pods, pod_set.name) == 0) continue;
    std::erase_if(now, [&](const auto& one) { return one.name == pod_set.name; });
    now.push_back({pod_set.name, whole->count - (pod_set.count - ended)});
  }
  const bool counts = adapter.active(job) || !has_condition(w, kQuotaReserved);
  return counts ? now : not_less(std::move(now), w.status.reclaimable_pods);
}

bool runs_on(const Workload& w) {
  return w.meta.annotations.contains(kSliceReplacementFor) && has_condition(w, kQuotaReserved) &&
         api::find_condition(w.status.conditions, kEvicted) == nullptr;
}

void with_workload(const JobAdapter& adapter, const Json& job, const WorkloadPtr& workload, const JobFacts& facts,
                   std::vector<Step>& steps) {
  const Workload& w = *workload;
  if (finished(w)) return with_finished_workload(adapter, job, workload, steps);
  if (const auto outcome = adapter.finished(job)) {
    steps.push_back(finish(workload, outcome->succeeded ? "Succeeded" : "Failed", outcome->message));
    // otherwise reported when the finalizer is removed
    if (!holds_finalizer(w)) steps.push_back(declared_finished(w));
    return;
  }
  if (const auto readable = adapter.check_status(job); !readable)
    steps.push_back(JobEvent{true, "UnreadableStatus", readable.error().message});
  const bool admitted = has_condition(w, kAdmitted);
  const bool suspended = adapter.suspended(job);
  const bool stopping = adapter.stopping(job);
  JobReport now;
  now.pods_ready = admitted && pods_ready(adapter, job, w);
  now.reclaimable = reclaimable(adapter, job, w);
  if (adapter.may_be_held()) now.on_hold = "";
  now.stopped = suspended && !stopping && !adapter.active(job) && !planted(Planted::kEndlessEviction);
  if (suspended && admitted && !facts.start_refused.empty()) now.start_refused = facts.start_refused;
  steps.push_back(report(workload, std::move(now)));

  const bool evicted = has_condition(w, kEvicted);
  const std::size_t said = steps.size();
  if (evicted || (stopping && !(admitted && half_started(adapter, job, w, facts)))) {
    stop(adapter, job, workload, eviction_message(w), steps);
    if (stopping) return;  // also while the next request must wait: what stops is not started
  } else if (!suspended && !admitted && !runs_on(w)) {
    stop(adapter, job, workload, "Not admitted by cluster queue", steps);
  }
  // The job stops, and gives its quota back when it has stopped.
  if (steps.size() > said || (evicted && has_condition(w, kQuotaReserved))) return;
  if (catch_up(job, workload, facts, steps)) return;
  if (suspended && admitted && w.active && !waits_for_places(w)) start(adapter, job, workload, facts, steps);
}

}  // namespace berth::jobs
