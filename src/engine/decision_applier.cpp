#include "engine/decision_applier.h"

#include <utility>

#include "base/assert.h"
#include "engine/lifecycle/preemption_gates.h"
#include "engine/lifecycle/words.h"
#include "engine/schedule/bypassed.h"
#include "engine/spread_keys.h"

namespace berth::engine {

void DecisionApplier::apply(const Decisions& decisions, Time now) {
  for (const auto& decision : decisions) {
    std::visit([&](const auto& d) { apply(d, now); }, decision);
  }
}

void DecisionApplier::apply(const Admit& d, Time now) {
  Tracked* t = workloads_.find(d.workload);
  BERTH_INVARIANT(t != nullptr);
  if (t == nullptr) return;
  auto admission = scheduler_.admission(d);
  const auto checks = facts_.registries.required_checks(admission);
  auto change = lifecycle::reserve(*t->now, std::move(admission), checks, d.considered, now);
  BERTH_INVARIANT(change.has_value());
  if (change && facts_.options.topology.spreading)
    report_unknown_spread_keys(change->status, *t->now, facts_.registries, now);
  if (change) transitions_.apply(*t, std::move(*change));
  workloads_.mark(*t);
}

void DecisionApplier::apply(const Preempt& d, Time now) {
  Tracked* target = workloads_.find(d.target);
  const Tracked* preemptor = workloads_.find(d.preemptor);
  BERTH_INVARIANT(target != nullptr && preemptor != nullptr);
  if (target == nullptr || preemptor == nullptr) return;
  const std::string priorities =
      lifecycle::preemption_priorities(views_.priority(*preemptor->now), views_.priority(*target->now));
  auto change = lifecycle::preempt(*target->now, to_string(d.reason), d.message, priorities, now);
  BERTH_INVARIANT(change.has_value());
  if (!change) return;
  transitions_.apply(*target, std::move(*change));
  const std::string queue = target->now.status().admission ? target->now.status().admission->cluster_queue : "";
  target->events.push_back(
      event_about(*preemptor->now, {false, "PreemptedWorkload",
                                    "Preempted workload " + target->key + " (UID: " + target->now->meta.uid +
                                        ") in ClusterQueue " + queue + priorities,
                                    lifecycle::Note::kByScheduler}));
  workloads_.mark(*target);
}

// After a restart another member of its class may be evaluated first. That is no news: what was said about it with the
// same reason stays, like the message of a workload that was told before.
bool DecisionApplier::still_said(const Tracked& t, const api::Condition& quota, std::string_view reason) const {
  // Coarse reasons do not tell whether the reason is the same.
  return facts_.options.unadmitted_observability && !quota.status && !t.unreported_reason && quota.reason == reason &&
         quota.observed_generation == t.now->meta.generation && reports_verdict(quota.message);
}

// Written together with any other pending change of the workload, else as a rate-limited message.
void DecisionApplier::apply(const Wait& d, Time now) {
  Tracked* t = workloads_.find(d.workload);
  BERTH_INVARIANT(t != nullptr);
  if (t == nullptr) return;
  const auto* said = api::find_condition(t->now.status().conditions, api::kueue::kQuotaReserved);
  const bool silent = !d.evaluated && !facts_.options.unadmitted_explicit_status;
  if (silent && said == nullptr) return;
  if (!d.evaluated && said != nullptr && still_said(*t, *said, d.reason)) return;
  lifecycle::PendingReason why{d.reason, d.message, {}, d.evaluated, d.preemption_gated};
  why.quiet = d.reason == kWaitingForPodsReady;
  if (d.preemption_gated) why.message += lifecycle::preemption_gated_text(*t->now);
  if (t->now.differs()) return transitions_.note_pending(*t, std::move(why), now);
  t->unreported_reason = std::move(why);
  messages_.report_later(*t, now);
}

void DecisionApplier::note_behind_others(Tracked& t, Time now) {
  if (!facts_.options.unadmitted_explicit_status || t.unreported_reason || !scheduler_.pending(t.id)) return;
  if (api::find_condition(t.now->status.conditions, api::kueue::kQuotaReserved) != nullptr) return;
  const auto* queue = facts_.registries.cluster_queue(t.cluster_queue);
  if (queue == nullptr || queue->queueing_strategy != api::kueue::QueueingStrategy::kStrictFifo) return;
  if (scheduler_.pending_position(t.id).value_or(Scheduler::Position{}).in_cluster_queue == 0) return;
  t.unreported_reason = lifecycle::PendingReason{
      std::string(lifecycle::reason::kPendingEvaluation), lifecycle::message::behind_others(t.cluster_queue), {}};
  messages_.report_later(t, now);
}

}  // namespace berth::engine
