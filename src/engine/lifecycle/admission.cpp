// Getting quota: why not yet, reserving it, being admitted, and the admission checks in between.
#include <algorithm>

#include "engine/lifecycle/change.h"
#include "engine/lifecycle/words.h"

namespace berth::engine::lifecycle {

using api::kueue::AdmissionCheckState;
using api::kueue::CheckState;

namespace {

// Since when the workload waits: it was created, or may be queued again.
Time queued_since(const Workload& w) {
  const auto* requeued = api::find_condition(w.status.conditions, api::kueue::kRequeued);
  return requeued != nullptr && requeued->status ? std::max(w.meta.creation, requeued->last_transition)
                                                 : w.meta.creation;
}

Note admitted_note(const std::string& cluster_queue, Time reserved, Time now, std::string_view controller) {
  return {false, std::string(reason::kAdmitted),
          "Admitted by ClusterQueue " + cluster_queue + ", wait time since reservation was " +
              std::to_string(seconds_since(reserved, now)) + "s",
          controller};
}

const AdmissionCheckState* find_check(const WorkloadStatus& status, const std::string& name) {
  const auto it = std::ranges::find(status.admission_checks, name, &AdmissionCheckState::name);
  return it == status.admission_checks.end() ? nullptr : &*it;
}

std::vector<AdmissionCheckState> listed(const WorkloadStatus& status, std::vector<std::string> names,
                                        Time now) {
  std::ranges::sort(names);
  std::vector<AdmissionCheckState> out;
  out.reserve(names.size());
  for (auto& name : names) {
    if (const auto* known = find_check(status, name)) {
      out.push_back(*known);
    } else {
      AdmissionCheckState fresh;
      fresh.name = std::move(name);
      fresh.last_transition = to_seconds(now);
      out.push_back(std::move(fresh));
    }
  }
  return out;
}

bool ready(const WorkloadStatus& status, const std::vector<std::string>& names) {
  return std::ranges::all_of(names, [&](const std::string& name) {
    const auto* check = find_check(status, name);
    return check != nullptr && check->state == CheckState::kReady;
  });
}

}  // namespace

Result<Change> note_pending(const Workload& w, const PendingReason& why, Time now) {
  WorkloadStatus status = w.status;
  const auto* before = api::find_condition(status.conditions, api::kueue::kQuotaReserved);
  const bool same = before != nullptr && !before->status && before->reason == why.reason &&
                    before->message == cut(why.message, kMaxConditionMessage);
  unreserve(status, w, why.reason, why.message, now);
  if (api::find_condition(status.conditions, api::kueue::kPodsReady) == nullptr)
    wait_for_start(status, w, now);
  if (!why.requests.empty()) status.resource_requests = why.requests;
  std::vector<Note> notes;
  if (why.announce && !same) notes.push_back({true, why.reason, why.message, Note::kByScheduler});
  return close(Move::kNotePending, w, std::move(status), std::move(notes));
}

Result<Change> reserve(const Workload& w, api::kueue::Admission admission,
                       const std::vector<std::string>& checks, std::string_view considered, Time now) {
  WorkloadStatus status = w.status;
  const std::string queue = admission.cluster_queue;
  status.admission = std::move(admission);
  status.resource_requests.clear();
  status.admission_checks = listed(status, checks, now);
  set(status, w, api::kueue::kQuotaReserved, true, reason::kQuotaReserved,
      "Quota reserved in ClusterQueue " + queue, now);
  reset(status, w, api::kueue::kEvicted, now);
  reset(status, w, api::kueue::kPreempted, now);
  if (api::find_condition(status.conditions, api::kueue::kPodsReady) == nullptr)
    wait_for_start(status, w, now);

  std::string text = "Quota reserved in ClusterQueue " + queue + ", wait time since queued was " +
                     std::to_string(seconds_since(queued_since(w), now)) + "s";
  if (!considered.empty()) text.append("; ").append(considered);
  std::vector<Note> notes{{false, std::string(reason::kQuotaReserved), std::move(text), Note::kByScheduler}};
  if (ready(status, checks)) {
    set(status, w, api::kueue::kAdmitted, true, reason::kAdmitted, message::kAdmitted, now);
    notes.push_back(admitted_note(queue, now, now, Note::kByScheduler));
  } else {
    set(status, w, api::kueue::kAdmitted, false, reason::kUnsatisfiedChecks, message::kUnsatisfiedChecks,
        now);
  }
  return close(Move::kReserve, w, std::move(status), std::move(notes));
}

Result<Change> admit(const Workload& w, Time now) {
  WorkloadStatus status = w.status;
  set(status, w, api::kueue::kAdmitted, true, reason::kAdmitted, message::kAdmitted, now);
  std::vector<Note> notes;
  const auto* reserved = api::find_condition(status.conditions, api::kueue::kQuotaReserved);
  if (reserved != nullptr && status.admission)
    notes.push_back(
        admitted_note(status.admission->cluster_queue, reserved->last_transition, now, Note::kByLifecycle));
  return close(Move::kAdmit, w, std::move(status), std::move(notes));
}

Result<Change> sync_checks(const Workload& w, const std::vector<std::string>& checks, Time now) {
  WorkloadStatus status = w.status;
  status.admission_checks = listed(status, checks, now);
  return close(Move::kSyncChecks, w, std::move(status));
}

bool lists_checks(const Workload& w, const std::vector<std::string>& checks) {
  return w.status.admission_checks.size() == checks.size() &&
         std::ranges::all_of(checks, [&](const auto& name) { return find_check(w.status, name) != nullptr; });
}

bool all_checks_ready(const Workload& w, const std::vector<std::string>& checks) {
  return ready(w.status, checks);
}

std::string checks_in_state(const Workload& w, CheckState state) {
  std::string out;
  for (const auto& check : w.status.admission_checks) {
    if (check.state != state) continue;
    out += out.empty() ? (state == CheckState::kRetry ? "AdmissionCheck in Retry state: "
                                                      : "AdmissionCheck in Rejected state: ")
                       : ", ";
    out += '"' + check.name + "\" (" + check.message + ")";
  }
  return out;
}

}  // namespace berth::engine::lifecycle
