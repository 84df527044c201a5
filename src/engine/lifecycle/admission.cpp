// Moves that lead to quota: note why it is missing, reserve it, admit, and the admission checks in between.
#include <algorithm>
#include <map>

#include "api/kueue/check_state.h"
#include "engine/lifecycle/change.h"
#include "engine/lifecycle/preemption_gates.h"
#include "engine/lifecycle/topology.h"
#include "engine/lifecycle/words.h"

namespace berth::engine::lifecycle {

using api::kueue::AdmissionCheckState;
using api::kueue::CheckState;

namespace {

// Since when the workload waits: since its creation or its last Requeued=True.
Time queued_since(const WorkloadRef& w) {
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

std::vector<AdmissionCheckState> listed(const WorkloadStatus& status, std::vector<std::string> names, Time now) {
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

struct Missing {
  std::string_view reason, message;
};
Missing missing(const WorkloadStatus& status, const std::vector<std::string>& checks) {
  if (!ready(status, checks)) return {reason::kUnsatisfiedChecks, message::kUnsatisfiedChecks};
  return {reason::kPendingDelayedTopology, message::kPendingDelayedTopology};
}

}  // namespace

Result<Change> close_admitted(Move move, const WorkloadRef& w, WorkloadStatus status, std::string_view controller,
                              Time now) {
  set(status, w, api::kueue::kAdmitted, true, reason::kAdmitted, message::kAdmitted, now);
  std::vector<Note> notes;
  const auto* reserved = api::find_condition(status.conditions, api::kueue::kQuotaReserved);
  if (reserved != nullptr && status.admission)
    notes.push_back(admitted_note(status.admission->cluster_queue, reserved->last_transition, now, controller));
  return close(move, w, std::move(status), std::move(notes));
}

Result<Change> note_pending(const WorkloadRef& w, const PendingReason& why, Time now) {
  WorkloadStatus status = w.status;
  const auto* before = api::find_condition(status.conditions, api::kueue::kQuotaReserved);
  const bool same = before != nullptr && !before->status && before->reason == why.reason &&
                    before->message == cut(why.message, kMaxConditionMessage);
  const bool same_reason = before != nullptr && !before->status && before->reason == why.reason;
  unreserve(status, w, why.reason, why.message, now);
  if (api::find_condition(status.conditions, api::kueue::kPodsReady) == nullptr) wait_for_start(status, w, now);
  if (!why.requests.empty()) status.resource_requests = why.requests;
  if (why.preemption_gated) {
    block(status, w, now);
  } else if (why.announce && why.reason != reason::kWaitingForPreempted) {
    unblock(status, w, why.reason, now);
  }
  std::vector<Note> notes;
  if (why.note && !same_reason) notes.push_back(*why.note);
  if (why.announce && !why.quiet && !same) notes.push_back({true, why.reason, why.message, Note::kByScheduler});
  return close(Move::kNotePending, w, std::move(status), std::move(notes));
}

Result<Change> refuse_devices(const WorkloadRef& w, const DeviceRefusal& why, Time now) {
  auto change = note_pending(w, {std::string(why.reason), why.message, {}}, now);
  if (!change) return change;
  set(change->status, w, api::kueue::kRequeued, false, why.requeued_reason, why.requeued_message, now);
  return close(Move::kNotePending, w, std::move(change->status));
}

bool says_devices_are_refused(const WorkloadRef& w, const DeviceRefusal& why) {
  const auto says = [&](std::string_view type, std::string_view message) {
    const auto* said = api::find_condition(w.status.conditions, type);
    return is_false(w.status.conditions, type) && said->message == cut(message, kMaxConditionMessage) &&
           said->observed_generation == w.meta.generation;
  };
  return says(api::kueue::kQuotaReserved, why.message) && says(api::kueue::kRequeued, why.requeued_message);
}

Result<Change> reserve(const WorkloadRef& w, api::kueue::Admission admission, const std::vector<std::string>& checks,
                       std::string_view considered, Time now) {
  WorkloadStatus status = w.status;
  const std::string queue = admission.cluster_queue;
  status.admission = std::move(admission);
  status.resource_requests.clear();
  status.admission_checks = listed(status, checks, now);
  set(status, w, api::kueue::kQuotaReserved, true, reason::kQuotaReserved, "Quota reserved in ClusterQueue " + queue,
      now);
  reset(status, w, api::kueue::kEvicted, now);
  reset(status, w, api::kueue::kPreempted, now);
  unblock(status, w, reason::kQuotaReserved, now);
  if (api::find_condition(status.conditions, api::kueue::kPodsReady) == nullptr) wait_for_start(status, w, now);

  std::string text = "Quota reserved in ClusterQueue " + queue + ", wait time since queued was " +
                     std::to_string(seconds_since(queued_since(w), now)) + "s";
  if (!considered.empty()) text.append("; ").append(considered);
  std::vector<Note> notes{{false, std::string(reason::kQuotaReserved), std::move(text), Note::kByScheduler}};
  if (ready(status, checks) && !topology_is_delayed(status)) {
    set(status, w, api::kueue::kAdmitted, true, reason::kAdmitted, message::kAdmitted, now);
    notes.push_back(admitted_note(queue, now, now, Note::kByScheduler));
  } else {
    const Missing what = missing(status, checks);
    set(status, w, api::kueue::kAdmitted, false, what.reason, what.message, now);
  }
  return close(Move::kReserve, w, std::move(status), std::move(notes));
}

Result<Change> admit(const WorkloadRef& w, Time now) {
  if (topology_is_delayed(w.status))
    return fail("workload " + api::object_key(w.meta) + ": its places are not known yet");
  return close_admitted(Move::kAdmit, w, w.status, Note::kByLifecycle, now);
}

Result<Change> stay_reserved(const WorkloadRef& w, const std::vector<std::string>& checks, Time now) {
  WorkloadStatus status = w.status;
  const Missing what = missing(status, checks);
  set(status, w, api::kueue::kAdmitted, false, what.reason, what.message, now);
  return close(Move::kStayReserved, w, std::move(status));
}

bool says_what_is_missing(const WorkloadRef& w, const std::vector<std::string>& checks) {
  const auto* admitted = api::find_condition(w.status.conditions, api::kueue::kAdmitted);
  return admitted != nullptr && !admitted->status && admitted->reason == missing(w.status, checks).reason;
}

Result<Change> sync_checks(const WorkloadRef& w, const std::vector<std::string>& checks, Time now) {
  WorkloadStatus status = w.status;
  status.admission_checks = listed(status, checks, now);
  return close(Move::kSyncChecks, w, std::move(status));
}

bool lists_checks(const WorkloadRef& w, const std::vector<std::string>& checks) {
  return w.status.admission_checks.size() == checks.size() &&
         std::ranges::all_of(checks, [&](const auto& name) { return find_check(w.status, name) != nullptr; });
}

bool all_checks_ready(const WorkloadRef& w, const std::vector<std::string>& checks) { return ready(w.status, checks); }

namespace {

void take_report(AdmissionCheckState& check, const AdmissionCheckState& report, Time now) {
  if (report.retry_count && report.retry_count.value_or(0) != check.retry_count.value_or(0)) return;
  const bool stays_ready = check.state == CheckState::kReady && report.state == CheckState::kReady;
  if (check.state != report.state) check.last_transition = to_seconds(now);
  check.state = report.state;
  check.message = report.message;
  if (report.requeue_after_seconds) check.requeue_after_seconds = report.requeue_after_seconds;
  if (!stays_ready) check.pod_set_updates = report.pod_set_updates;
}

std::vector<AdmissionCheckState> with_reports(const WorkloadStatus& status, const CheckReports& reports, Time now) {
  auto checks = status.admission_checks;
  for (auto& check : checks) {
    if (const auto it = reports.find(check.name); it != reports.end()) take_report(check, it->second, now);
  }
  return checks;
}

}  // namespace

Result<Change> report_checks(const WorkloadRef& w, const CheckReports& reports, Time now,
                             const ClusterReport* clusters) {
  WorkloadStatus status = w.status;
  status.admission_checks = with_reports(status, reports, now);
  if (clusters != nullptr) {
    status.cluster_name = clusters->cluster_name;
    status.nominated_cluster_names = clusters->nominated_cluster_names;
  }
  std::vector<Note> notes;
  for (std::size_t i = 0; i < status.admission_checks.size(); ++i) {
    const auto &before = w.status.admission_checks[i], &after = status.admission_checks[i];
    if (before.state == after.state) continue;
    if (clusters != nullptr && after.name == clusters->check) {
      notes.push_back({after.state == CheckState::kRejected, "MultiKueue", after.message, Note::kByLifecycle});
      continue;
    }
    std::string text = "Admission check " + after.name + " updated state from " +
                       std::string(api::kueue::name_of(before.state)) + " to " +
                       std::string(api::kueue::name_of(after.state));
    if (!after.message.empty()) text += " with message: " + after.message;
    notes.push_back({false, "AdmissionCheckUpdated", std::move(text), Note::kByProvisioning});
  }
  return close(Move::kReportChecks, w, std::move(status), std::move(notes));
}

bool says_anything_new(const WorkloadRef& w, const CheckReports& reports, Time now, const ClusterReport* clusters) {
  const bool moved = clusters != nullptr && (clusters->cluster_name != w.status.cluster_name ||
                                             clusters->nominated_cluster_names != w.status.nominated_cluster_names);
  return moved || with_reports(w.status, reports, now) != w.status.admission_checks;
}

std::string checks_in_state(const WorkloadRef& w, CheckState state) {
  std::map<std::string_view, std::string_view> messages;  // by check
  for (const auto& check : w.status.admission_checks) {
    if (check.state == state) messages.emplace(check.name, check.message);
  }
  std::string out;
  for (const auto& [check, message] : messages) {
    out += (out.empty() ? "\"" : "; \"") + std::string(check) + '"';
    if (!message.empty()) out += " (" + std::string(message) + ")";
  }
  if (out.empty()) return out;
  return (messages.size() > 1 ? "AdmissionChecks in " : "AdmissionCheck in ") +
         std::string(api::kueue::name_of(state)) + " state: " + out;
}

}  // namespace berth::engine::lifecycle
