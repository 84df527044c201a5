#include "controller/engine_host.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/kueue/slices.h"
#include "api/owners.h"
#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"
#include "base/merge_patch.h"
#include "base/overloaded.h"
#include "base/planted.h"
#include "jobs/job_adapter.h"

namespace berth::controller {
namespace {

// Kueue's action in an event; "": the reason.
std::string action_of(std::string_view reason) { return reason == api::kueue::kSliceReplaced ? "Replaced" : ""; }

std::string api_version_of(std::string_view kind) {
  return kind == "Job" ? "batch/v1" : std::string(api::kueue::kGroup) + "/" + std::string(api::kueue::kVersion);
}

engine::WriteSettled outcome_of(std::uint64_t write, const api::RestResponse& response) {
  using Outcome = engine::WriteSettled::Outcome;
  engine::WriteSettled settled;
  settled.write = write;
  if (response.ok()) {
    settled.resource_version = string_at(response.body, {"metadata", "resourceVersion"});
  } else if (response.code == 404) {
    settled.outcome = Outcome::kGone;
  } else {
    settled.outcome = response.code == 409 ? Outcome::kConflict : Outcome::kFailed;
    settled.message =
        response.code == 0 ? "the outcome of the request is unknown" : std::string(api::status_message(response));
  }
  return settled;
}

// How long decisions wait for the writes in flight when a checkpoint of the journal is urgent, how often they look, and
// how long they are left alone after that was not enough.
constexpr Duration kLongestHold = std::chrono::seconds(3);
constexpr Duration kHoldStep = std::chrono::milliseconds(20);
constexpr Duration kBetweenHolds = std::chrono::minutes(5);

// Whether the status has no fields of other writers besides conditions. Then all of it is known, and an update can
// replace it.
bool is_ours_alone(const api::kueue::WorkloadStatus& status) {
  return !status.has_more && status.admission_checks.empty() && status.reclaimable_pods.empty() &&
         status.unhealthy_nodes.empty() && status.preemption_gates.empty();
}

}  // namespace

EngineHost::EngineHost(Executor& executor, Writes& writes, kube::EventRecorder& events, engine::Options options,
                       EffectReceiver& receiver, JobResources jobs, journal::Journal* journal)
    : executor_(executor),
      writes_(writes),
      events_(events),
      receiver_(receiver),
      jobs_(std::move(jobs)),
      options_(std::move(options)),
      engine_(options_),
      journal_(journal) {
  if (journal_ == nullptr) return;
  journal_->begin(options_);
  journal_->checkpoint_done();
}

EngineHost::~EngineHost() {
  if (wake_ != 0) executor_.cancel(wake_);
}

void EngineHost::feed(const engine::Event& event) {
  const Time now = executor_.now();
  const engine::Effects effects = engine_.handle(now, event);
  if (journal_ != nullptr) journal_->handled(now, event, effects);
  run_history_.note(event);
  perform(effects);
  decide_soon();
}

void EngineHost::lead() {
  leading_ = true;
  feed(engine::Synced{});
}

void EngineHost::decide_soon() {
  if (stopped_ || std::exchange(decision_posted_, true)) return;
  executor_.post(lifetime_.guard([this] { decide(); }));
}

void EngineHost::decide() {
  decision_posted_ = false;
  if (stopped_) return;
  if (journal_ != nullptr && waits_for_checkpoint()) {
    decision_posted_ = true;
    executor_.after(kHoldStep, lifetime_.guard([this] { decide(); }));
    return;
  }
  const Time began = executor_.now();
  const engine::Effects effects = engine_.schedule(began);
  if (journal_ != nullptr) journal_->scheduled(began, effects);
  if (leading_) receiver_.decided(effects, executor_.now() - began);
  perform(effects);
  if (leading_ && on_round_) on_round_();
}

bool EngineHost::waits_for_checkpoint() {
  using Wish = journal::Journal::Wish;
  const Wish wish = journal_->wish();
  if (wish != Wish::kNone && engine_.settled()) make_checkpoint();
  const Time now = executor_.now();
  if (journal_->wish() != Wish::kUrgent || now < hold_again_) {
    held_since_.reset();
    return false;
  }
  if (!held_since_) held_since_ = now;
  if (now - *held_since_ < kLongestHold) return true;
  held_since_.reset();
  hold_again_ = now + kBetweenHolds;
  return false;
}

void EngineHost::make_checkpoint() {
  const std::vector<engine::Event> inputs = engine_.inputs();
  engine_ = engine::Engine(options_);
  journal_->begin(options_);
  const Time now = executor_.now();
  std::vector<engine::Effects> all;
  for (const auto& event : inputs) {
    all.push_back(engine_.handle(now, event));
    journal_->handled(now, event, all.back());
  }
  journal_->checkpoint_done();
  for (const auto& effects : all) perform(effects);
}

void EngineHost::perform(const engine::Effects& effects) {
  for (const auto& effect : effects) {
    if (receiver_.take(effect)) continue;
    std::visit(
        Overloaded{
            [&](const engine::WriteWorkloadStatus& e) { write_status(e); },
            [&](const engine::DeactivateWorkload& e) { deactivate(e); },
            [&](const engine::RecordEvent& e) {
              events_.record({api_version_of(e.kind), e.kind, e.ns, e.name, e.uid, e.resource_version},
                             {e.warning, e.reason, e.note, action_of(e.reason), e.controller});
            },
            [&](const engine::ClusterQueueStatusChanged& e) { receiver_.cluster_queue_status_changed(e.name); },
            [&](const engine::LocalQueueStatusChanged& e) { receiver_.local_queue_status_changed(e.ns, e.name); },
            [&](const engine::CohortStatusChanged& e) { receiver_.cohort_status_changed(e.name); },
            [&](const engine::SetFinalizer& e) { receiver_.set_finalizer(e); },
            [&](const engine::ExpireWorkload& e) { expire(e); },
            [&](const engine::WakeAt& e) { wake_at(e.when); },
        },
        effect);
  }
}

// Of one tree, what takes or returns quota is written in order: no client sees more quota in use than there is. All
// else waits with the workloads of its local queue.
std::string EngineHost::line_of(const api::kueue::Workload& base, const api::kueue::WorkloadStatus& after) const {
  const auto& admission = after.admission ? after.admission : base.status.admission;
  if (base.status.admission.has_value() == after.admission.has_value())
    return "workloads of " + api::object_key(base.meta.ns, base.queue_name);
  const auto cohorts = engine_.cohorts_above(admission->cluster_queue);
  return cohorts.empty() ? "cluster queue " + admission->cluster_queue : "cohort " + cohorts.back();
}

void EngineHost::write_status(const engine::WriteWorkloadStatus& effect) {
  // Nothing to write. Settle it, but not inside the engine's own call.
  if (effect.base->status == effect.status) {
    executor_.post(lifetime_.guard([this, write = effect.write, version = effect.base->meta.resource_version] {
      feed(engine::WriteSettled{write, engine::WriteSettled::Outcome::kDone, version, {}});
    }));
    return;
  }
  Target target = Target::of(api::kWorkloads, effect.base->meta);
  target.line = line_of(*effect.base, effect.status);
  const auto done = lifetime_.guard(
      [this, write = effect.write, target](const api::RestResponse& response) { settle(write, target, response); });
  Json after = api::kueue::encode_workload_status(effect.status);
  if (is_ours_alone(effect.base->status)) return writes_.update_status(target, "Workload", std::move(after), done);
  const Json before = api::kueue::encode_workload_status(effect.base->status);
  writes_.patch(target, "status", JsonObject{{"status", make_merge_patch(before, after)}}, done);
}

void EngineHost::deactivate(const engine::DeactivateWorkload& effect) {
  const Target target = Target::of(api::kWorkloads, effect.base->meta);
  writes_.patch(target, "", JsonObject{{"spec", JsonObject{{"active", false}}}},
                lifetime_.guard([this, write = effect.write, target](const api::RestResponse& response) {
                  settle(write, target, response);
                }));
}

void EngineHost::expire(const engine::ExpireWorkload& effect) {
  const api::ObjectMeta& meta = effect.workload->meta;
  if (effect.with_job && !meta.owners.empty()) return expire_jobs(meta);
  const Target target = Target::of(api::kWorkloads, meta);
  remove_expired(
      target, {api_version_of("Workload"), "Workload", target.ns, target.name, target.uid, target.resource_version},
      {false, "Deleted", "Deleted finished workload due to elapsed retention", {}, "kueue-workload-controller"});
}

// Deletes the controller of the workload, or the pods of its group; the workload goes with them. The workload stays if
// an owner makes the pods again, or is of a kind that Berth does not know: the job would get a new workload and start
// again.
void EngineHost::expire_jobs(const api::ObjectMeta& workload) {
  const bool controlled = api::controller_of(workload) != nullptr;
  std::vector<std::pair<const api::OwnerReference*, JobResource>> jobs;
  for (const auto& owner : workload.owners) {
    if (controlled && !owner.controller) continue;
    const auto job = jobs_(owner);
    if (!job) return;
    jobs.emplace_back(&owner, *job);
  }
  for (const auto& [owner, job] : jobs) {
    remove_expired({job.resource, workload.ns, owner->name, owner->uid, ""},
                   {owner->api_version, owner->kind, workload.ns, owner->name, owner->uid},
                   {false, "Deleted", "Deleted job: deactivation retention period expired", {}, job.controller});
  }
}

void EngineHost::remove_expired(const Target& target, const kube::ObjectRef& about, const kube::EventText& event) {
  writes_.remove(target, lifetime_.guard([this, about, event](const api::RestResponse& response) {
    if (response.code == 404) return;
    if (response.ok()) return events_.record(about, event);
    log::warn("could not delete an expired object, retrying in 1 min",
              {{"kind", about.kind},
               {"name", api::object_key(about.ns, about.name)},
               {"why", std::string(api::status_message(response))}});
  }));
}

void EngineHost::settle(std::uint64_t write, const Target& target, const api::RestResponse& response) {
  engine::WriteSettled settled = outcome_of(write, response);
  if (settled.outcome == engine::WriteSettled::Outcome::kConflict) return settle_conflict(std::move(settled), target);
  if (settled.outcome == engine::WriteSettled::Outcome::kFailed) {
    log::warn("a workload could not be written", {{"code", response.code}, {"why", settled.message}});
    if (planted(Planted::kForgottenAnswer)) return;
  }
  feed(settled);
}

void EngineHost::settle_conflict(engine::WriteSettled settled, const Target& target) {
  writes_.get(target, lifetime_.guard([this, settled = std::move(settled),
                                       target](const api::RestResponse& response) mutable {
    using Outcome = engine::WriteSettled::Outcome;
    const bool another = string_at(response.body, {"metadata", "uid"}) != target.uid;
    if (response.code == 404 || (response.ok() && another)) {
      settled.outcome = Outcome::kGone;
    } else if (!response.ok() || string_at(response.body, {"metadata", "resourceVersion"}) == target.resource_version) {
      settled.outcome = Outcome::kFailed;
    }
    feed(settled);
  }));
}

void EngineHost::wake_at(Time when) {
  if (wake_ != 0) executor_.cancel(wake_);
  wake_ = executor_.at(when, [this] {
    wake_ = 0;
    feed(engine::TimePassed{});
  });
}

}  // namespace berth::controller
