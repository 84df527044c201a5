// Runs the engine: feeds it events, lets it decide after each batch, and carries out its effects.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/lifetime.h"
#include "controller/writes.h"
#include "engine/engine.h"
#include "engine/explain/forecasts.h"
#include "engine/explain/run_history.h"
#include "journal/journal.h"
#include "kube/event_recorder.h"

namespace berth::controller {

// Gets the effects that are not writes of workloads.
class EffectReceiver {
 public:
  virtual ~EffectReceiver() = default;
  virtual void cluster_queue_status_changed(const std::string& name) = 0;
  virtual void local_queue_status_changed(const std::string& ns, const std::string& name) = 0;
  virtual void cohort_status_changed(const std::string& name) = 0;
  virtual void set_finalizer(const engine::SetFinalizer& effect) = 0;
  // After each decision round of a leader.
  virtual void decided(const engine::Effects& effects, Duration took) = 0;
  // Called first for every effect. True: the effect is about an object that no API server holds, and the receiver has
  // handled it; the receiver also settles the write.
  virtual bool take(const engine::Effect& effect) = 0;
};

// The kind of the owner of a workload, if Berth makes workloads for it.
struct JobResource {
  api::GroupVersionResource resource;
  std::string controller;  // in events
};
using JobResources = std::function<std::optional<JobResource>(const api::OwnerReference& owner)>;

class EngineHost {
 public:
  // `journal`: gets every call of the engine; null: nothing is recorded. All must outlive the host.
  EngineHost(Executor& executor, Writes& writes, kube::EventRecorder& events, engine::Options options,
             EffectReceiver& receiver, JobResources jobs, journal::Journal* journal = nullptr);
  ~EngineHost();

  // Passes an event to the engine at once. The engine decides once per batch of events. Before lead() it makes no
  // decision: it only learns which workloads wait where.
  void feed(const engine::Event& event);
  // Call when every cache is complete and this process leads: decisions begin.
  void lead();
  // No more decisions are made.
  void stop() { stopped_ = true; }

  const engine::Engine& engine() const { return engine_; }
  engine::Forecasts& forecasts() { return forecasts_; }
  // Called after each decision round while this process leads. Tests and the simulation check invariants there.
  void on_round(std::function<void()> handler) { on_round_ = std::move(handler); }

 private:
  void perform(const engine::Effects& effects);
  std::string line_of(const api::kueue::Workload& base, const api::kueue::WorkloadStatus& after) const;
  void write_status(const engine::WriteWorkloadStatus& effect);
  void deactivate(const engine::DeactivateWorkload& effect);
  void expire(const engine::ExpireWorkload& effect);
  void expire_jobs(const api::ObjectMeta& workload);
  void remove_expired(const Target& target, const kube::ObjectRef& about, const kube::EventText& event);
  void settle(std::uint64_t write, const Target& target, const api::RestResponse& response);
  // After a 409, reads the object. When a newer version exists, the cache will bring it: conflict. When the object is
  // gone or has another uid: gone. When the version is unchanged or the read fails, no event would trigger a retry:
  // failed.
  void settle_conflict(engine::WriteSettled settled, const Target& target);
  void wake_at(Time when);
  void decide_soon();
  void decide();
  // A segment of the journal begins with a checkpoint: the engine is made again from what it has seen, as after a
  // restart. Returns whether decisions must wait: a checkpoint is urgent, and writes are still on their way.
  bool waits_for_checkpoint();
  void make_checkpoint();

  Executor& executor_;
  Writes& writes_;
  kube::EventRecorder& events_;
  EffectReceiver& receiver_;
  const JobResources jobs_;
  const engine::Options options_;
  engine::Engine engine_;
  engine::RunHistory run_history_;
  engine::Forecasts forecasts_{engine_, run_history_, [this] { return executor_.now(); }};
  journal::Journal* journal_;
  std::optional<Time> held_since_;  // since when decisions wait for a checkpoint
  Time hold_again_{};               // they do not wait again before this time
  std::function<void()> on_round_;
  bool leading_ = false;
  bool stopped_ = false;
  bool decision_posted_ = false;
  TimerId wake_ = 0;
  Lifetime lifetime_;
};

}  // namespace berth::controller
