#include "engine/explain/blockers.h"

#include <fmt/format.h>

#include <utility>

#include "api/kueue/check_state.h"
#include "api/meta.h"
#include "engine/lifecycle/state.h"
#include "engine/lifecycle/words.h"

namespace berth::engine {
namespace {

using api::kueue::WorkloadRef;
using lifecycle::Hold;
using lifecycle::State;

class Blockers {
 public:
  explicit Blockers(const BlockerQuestion& question) : q_(question) {}
  void find();

  std::vector<Explanation::Blocker> out;

 private:
  std::string queue_remedy() const;
  void add(std::string_view reason, std::string text, std::string remedy, std::optional<Time> until = {}) {
    out.push_back({std::string(reason), std::move(text), std::move(remedy), until});
  }

  const BlockerQuestion& q_;
};

void Blockers::find() {
  const WorkloadRef w = *q_.workload.now;
  const State state = lifecycle::state_of(w);
  const auto* evicted = api::find_condition(w.status.conditions, api::kueue::kEvicted);
  const std::string eviction = evicted != nullptr && evicted->status ? evicted->message : "";
  if (state == State::kInactive)
    add("Deactivated",
        "The workload is inactive (spec.active is false)" +
            (eviction.empty() || eviction == lifecycle::message::kDeactivated ? "." : ": " + eviction + "."),
        "Set spec.active to true: berth resume workload " + w.meta.name + " -n " + w.meta.ns);
  if (state == State::kEvicting)
    add("Evicting", "The workload is being evicted and waits until its pods have ended.",
        "Nothing: it is queued again after that.");
  if (state == State::kReserved) {
    for (const auto& check : w.status.admission_checks) {
      if (check.state == api::kueue::CheckState::kReady) continue;
      add("UnsatisfiedAdmissionChecks",
          fmt::format("Admission check {} is {}{}.", check.name, api::kueue::name_of(check.state),
                      check.message.empty() ? "" : ": " + check.message),
          "The check's controller must report Ready.");
    }
    if (!q_.workload.second_pass.has_value()) return;
    add("PendingDelayedTopologyRequests",
        "Quota is reserved; the second pass looks for places on nodes" +
            (q_.workload.second_pass->failure.empty() ? std::string(".") : ": " + q_.workload.second_pass->failure),
        "Free capacity on the nodes of its flavor.", q_.workload.second_pass->at);
    return;
  }
  if (state == State::kHeld) {
    switch (lifecycle::hold_of(w)) {
      case Hold::kGated:
        add("AdmissionGated", "The annotation kueue.x-k8s.io/admission-gated-by is set.",
            "Remove the annotation from the job.");
        break;
      case Hold::kOnHold:
        add("OnHold", "The owner holds the workload back: " + q_.message + ".", "Scale the owner up.");
        break;
      case Hold::kReplacementPods:
        add("WaitingForReplacementPods", "The group has fewer pods than it needs.",
            "Create the missing pods of the group.");
        break;
      case Hold::kFailedChecks:
        add("AdmissionCheck", "An admission check failed; the checks are reset.", "Nothing: it is queued again.");
        break;
      case Hold::kDeactivationTarget:
        add("DeactivationTarget", "The workload is about to be deactivated.", "See the condition DeactivationTarget.");
        break;
      case Hold::kDeleting:
        add("Deleting", "The workload is being deleted.", "");
        break;
      case Hold::kRequeuedFalse:
      case Hold::kNone:
        break;
    }
  }
  if (const auto why = lifecycle::pending_reason(w, q_.situation);
      why && state != State::kInactive && why->reason != lifecycle::reason::kGated)
    add(why->reason, why->message + ".", queue_remedy());
  if (!q_.pending) return;
  if (q_.pending->barrier)
    add(q_.pending->barrier->reason, q_.pending->barrier->message + ".", "Correct the workload or the queue's rules.");
  if (q_.pending->on_hold)
    add("Requeued", std::string(lifecycle::message::kNotRequeued) + (eviction.empty() ? "" : ": " + eviction) + ".", "",
        w.status.requeue_state ? w.status.requeue_state->requeue_at : std::nullopt);
  if (q_.pending->not_before && *q_.pending->not_before > q_.now && !q_.pending->on_hold)
    add("Backoff", std::string(lifecycle::message::kBackoff) + ".", "", q_.pending->not_before);
  if (q_.blocked_by_pods)
    add("WaitingForPodsReady", "waitForPodsReady.blockAdmission: pods of an admitted workload are not ready yet.", "");
}

// What makes the queue of the workload admit again.
std::string Blockers::queue_remedy() const {
  using api::kueue::StopPolicy;
  const WorkloadRef w = *q_.workload.now;
  const auto* local = q_.registries.local_queue(api::object_key(w.meta.ns, w.queue_name));
  if (local == nullptr) {
    const std::string others = q_.registries.queues_like(w.meta.ns, w.queue_name);
    if (others.empty())
      return fmt::format("Create the LocalQueue {} in namespace {}, which has none yet.", w.queue_name, w.meta.ns);
    return fmt::format(
        "Name another one in the label kueue.x-k8s.io/queue-name of the job (the namespace has {}), or "
        "create the LocalQueue {} in namespace {}.",
        others, w.queue_name, w.meta.ns);
  }
  if (local->stop_policy != StopPolicy::kNone)
    return fmt::format("Set spec.stopPolicy of the LocalQueue to None: berth resume localqueue {} -n {}", w.queue_name,
                       w.meta.ns);
  const auto* queue = q_.registries.cluster_queue(local->cluster_queue);
  if (queue == nullptr) return fmt::format("Create the ClusterQueue {}.", local->cluster_queue);
  if (queue->stop_policy != StopPolicy::kNone)
    return fmt::format("Set spec.stopPolicy of the ClusterQueue to None: berth resume clusterqueue {}",
                       local->cluster_queue);
  const std::string& problem = q_.registries.activity(*queue).message;
  return fmt::format("Repair the ClusterQueue {}: {}", local->cluster_queue,
                     problem.empty() ? "see its condition Active." : problem);
}

}  // namespace

std::vector<Explanation::Blocker> blockers_of(const BlockerQuestion& question) {
  Blockers blockers(question);
  blockers.find();
  return std::move(blockers.out);
}

}  // namespace berth::engine
