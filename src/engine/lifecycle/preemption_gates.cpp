#include "engine/lifecycle/preemption_gates.h"

#include <algorithm>

#include "engine/lifecycle/change.h"
#include "engine/lifecycle/words.h"

namespace berth::engine::lifecycle {

using api::kueue::PreemptionGate;

namespace {

const PreemptionGate* find_gate(const WorkloadStatus& status, std::string_view name) {
  const auto it = std::ranges::find(status.preemption_gates, name, &PreemptionGate::name);
  return it == status.preemption_gates.end() ? nullptr : &*it;
}

bool is_open(const WorkloadStatus& status, std::string_view name) {
  const PreemptionGate* gate = find_gate(status, name);
  return gate != nullptr && gate->open;
}

}  // namespace

bool preemption_gated(const WorkloadRef& w) {
  return !std::ranges::all_of(w.preemption_gates, [&](const std::string& name) { return is_open(w.status, name); });
}

std::string preemption_gated_text(const WorkloadRef& w) {
  std::string names;
  for (const std::string& name : w.preemption_gates) {
    if (!is_open(w.status, name)) names += (names.empty() ? "" : ", ") + name;
  }
  return ". " + std::string(message::kPreemptionGated) + " by: " + names;
}

bool lists_gates(const WorkloadRef& w) {
  return std::ranges::equal(w.preemption_gates, w.status.preemption_gates, {}, {}, &PreemptionGate::name);
}

Result<Change> sync_gates(const WorkloadRef& w, Time now) {
  WorkloadStatus status = w.status;
  status.preemption_gates.clear();
  for (const std::string& name : w.preemption_gates) {
    const PreemptionGate* known = find_gate(w.status, name);
    status.preemption_gates.push_back(known != nullptr ? *known : PreemptionGate{name, false, to_seconds(now)});
  }
  return close(Move::kSyncGates, w, std::move(status));
}

void close_gates(WorkloadStatus& status, Time now) {
  for (PreemptionGate& gate : status.preemption_gates) {
    if (gate.open) gate = {gate.name, false, to_seconds(now)};
  }
}

void block(WorkloadStatus& status, const WorkloadRef& w, Time now) {
  set(status, w, api::kueue::kBlockedOnPreemptionGates, true, reason::kPreemptionGated, message::kPreemptionGated, now);
}

void unblock(WorkloadStatus& status, const WorkloadRef& w, std::string_view why, Time now) {
  const auto* blocked = api::find_condition(status.conditions, api::kueue::kBlockedOnPreemptionGates);
  if (blocked == nullptr || !blocked->status) return;
  set(status, w, api::kueue::kBlockedOnPreemptionGates, false, why, "Previously: " + blocked->message, now);
}

}  // namespace berth::engine::lifecycle
