// Runs the engine: feeds it events, lets it decide after each batch, and sees to its effects.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/executor.h"
#include "controller/writes.h"
#include "engine/engine.h"
#include "kube/event_recorder.h"

namespace berth::controller {

// Where effects go that are no writes of a workload.
struct EffectSinks {
  std::function<void(std::string_view name)> cluster_queue_status_changed;
  std::function<void(std::string_view ns, std::string_view name)> local_queue_status_changed;
  std::function<void(std::string_view name)> cohort_status_changed;
  std::function<void(const engine::SetFinalizer&)> set_finalizer;
  std::function<void(const engine::Effects&, Duration took)> decided;  // a round of decisions
  // Asked first: true when the effect is about something that no API server holds, and whoever keeps it has seen to it (and settles
  // its writes). Empty: there is nothing of the kind.
  std::function<bool(const engine::Effect&)> takes;
};

class EngineHost {
 public:
  EngineHost(Executor& executor, Writes& writes, kube::EventRecorder& events, engine::Options options,
             EffectSinks sinks);
  ~EngineHost();

  // Takes an event in at once; the decision that may follow is taken once per batch of events. Before lead() there is none:
  // the engine only learns who waits where.
  void feed(const engine::Event& event);
  // Every cache is complete and this process leads: decisions begin. Before it the engine only learns.
  void lead();
  // No decision is taken any more, and nothing is done.
  void stop() { stopped_ = true; }

  const engine::Engine& engine() const { return engine_; }
  // Called after each decision round; for tests and simulation, which check invariants there.
  void on_round(std::function<void()> handler) { on_round_ = std::move(handler); }

 private:
  void perform(const engine::Effects& effects);
  void write_status(const engine::WriteWorkloadStatus& effect);
  void deactivate(const engine::DeactivateWorkload& effect);
  void expire(const engine::ExpireWorkload& effect);
  void settle(std::uint64_t write, const Target& target, const api::RestResponse& response);
  // A conflict means that a newer version exists, which the cache will bring. If it does not, nothing ever
  // would: then the write has just failed.
  void settle_conflict(engine::WriteSettled settled, const Target& target);
  void wake_at(Time when);
  void decide_soon();

  Executor& executor_;
  Writes& writes_;
  kube::EventRecorder& events_;
  EffectSinks sinks_;
  engine::Engine engine_;
  std::function<void()> on_round_;
  bool leading_ = false;
  bool stopped_ = false;
  bool decision_posted_ = false;
  TimerId wake_ = 0;
  std::shared_ptr<bool> alive_ =
      std::make_shared<bool>(true);  // callbacks under way find out that the host is gone
};

}  // namespace berth::controller
