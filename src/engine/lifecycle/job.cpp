// Writes the job's report into the workload's status.
#include <algorithm>

#include "api/kueue/reclaimable_pods.h"
#include "api/kueue/slices.h"
#include "engine/lifecycle/change.h"
#include "engine/lifecycle/scheduling.h"
#include "engine/lifecycle/words.h"

namespace berth::engine::lifecycle {

using api::kueue::JobReport;

namespace {

void report_pods_ready(WorkloadStatus& status, const WorkloadRef& w, const JobReport& report, Time now) {
  const auto* before = api::find_condition(status.conditions, api::kueue::kPodsReady);
  const std::string was = before != nullptr ? before->reason : std::string();
  if (!api::is_true(status.conditions, api::kueue::kAdmitted)) {
    set_pods_ready(status, w, false, reason::kWaitForStart, message::kPodsNotReady, now);
  } else if (*report.pods_ready) {
    const bool again = was == reason::kWaitForRecovery || was == reason::kRecovered;
    set_pods_ready(status, w, true, again ? reason::kRecovered : reason::kStarted, message::kPodsReady, now);
  } else if (before != nullptr && (before->status || was == reason::kWaitForRecovery)) {
    set_pods_ready(status, w, false, reason::kWaitForRecovery, message::kPodsRecovering, now);
  } else if (was == reason::kWaitForScheduling && waits_for_nodes(status)) {
    return;  // report_scheduling() ends it
  } else {
    const std::string_view why =
        report.start_refused ? std::string_view(*report.start_refused) : message::kPodsNotReady;
    set_pods_ready(status, w, false, reason::kWaitForStart, why, now);
  }
}

// A condition with the same content is left unchanged, including its observedGeneration.
void report_replacement(WorkloadStatus& status, const WorkloadRef& w, const JobReport::Replacement& reported,
                        Time now) {
  const auto* before = api::find_condition(status.conditions, api::kueue::kWaitingForReplacementPods);
  if (before == nullptr && !reported.needed) return;
  const std::string_view why = reported.needed ? std::string_view(reported.reason) : reason::kNoReplacementNeeded;
  const std::string_view text = reported.needed ? std::string_view(reported.message) : message::kNoReplacementNeeded;
  if (before != nullptr && before->status == reported.needed && before->reason == why && before->message == text)
    return;
  set(status, w, api::kueue::kWaitingForReplacementPods, reported.needed, why, text, now);
}

WorkloadStatus with_report(const WorkloadRef& w, const JobReport& report, Time now) {
  WorkloadStatus status = w.status;
  if (report.pods_ready) report_pods_ready(status, w, report, now);
  // While quota is reserved, no count decreases: that quota was already given back. But fewer pods are done of a pod
  // set that shrank below them.
  if (report.reclaimable) {
    auto before = status.reclaimable_pods;
    std::erase_if(before, [&](const auto& each) { return has_shrunk(w, each.name); });
    status.reclaimable_pods =
        holds_quota(status) ? api::kueue::not_less(*report.reclaimable, before) : *report.reclaimable;
  }
  if (report.replacement) report_replacement(status, w, *report.replacement, now);
  return status;
}

}  // namespace

bool has_shrunk(const WorkloadRef& w, std::string_view pod_set) {
  if (!w.status.admission) return false;
  const auto& all = w.status.admission->pod_set_assignments;
  const auto given = std::ranges::find(all, pod_set, &api::kueue::PodSetAssignment::name);
  const auto wanted = std::ranges::find(w.pod_sets, pod_set, &api::kueue::PodSet::name);
  return given != all.end() && wanted != w.pod_sets.end() && wanted->count < given->count;
}

Result<Change> report_pods(const WorkloadRef& w, const JobReport& report, Time now) {
  return close(Move::kReportPods, w, with_report(w, report, now));
}

bool says_anything_new(const WorkloadRef& w, const JobReport& report, Time now) {
  return with_report(w, report, now) != w.status;
}

Result<Change> replace(const WorkloadRef& w, const std::string& why, Time now) {
  auto change = finish(w, {std::string(api::kueue::kSliceReplaced), why}, now);
  if (change) change->notes.push_back({false, std::string(api::kueue::kSliceReplaced), why, Note::kByScheduler});
  return change;
}

Result<Change> finish(const WorkloadRef& w, const JobReport::Outcome& outcome, Time now) {
  WorkloadStatus status = w.status;
  set(status, w, api::kueue::kFinished, true, outcome.reason, outcome.message, now);
  report_replacement(status, w, {}, now);  // what is finished waits for no pods
  return close(Move::kFinish, w, std::move(status));
}

}  // namespace berth::engine::lifecycle
