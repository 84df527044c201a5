// What follows from the scheduler's decisions: admissions, preemptions, and words about why workloads wait.
#pragma once

#include "engine/engine_facts.h"
#include "engine/messages.h"
#include "engine/schedule/scheduler.h"
#include "engine/tracked.h"
#include "engine/transitions.h"
#include "engine/workload_views.h"

namespace berth::engine {

class DecisionApplier {
 public:
  DecisionApplier(const EngineFacts& facts, const Scheduler& scheduler, TrackedWorkloads& workloads,
                  const WorkloadViews& views, Messages& messages, Transitions& transitions)
      : facts_(facts),
        scheduler_(scheduler),
        workloads_(workloads),
        views_(views),
        messages_(messages),
        transitions_(transitions) {}

  void apply(const Decisions& decisions, Time now);
  // Call after a pass: a workload that stands behind others of a StrictFIFO queue is not evaluated, and says so, once.
  void note_behind_others(Tracked& t, Time now);

 private:
  void apply(const Admit& admit, Time now);
  void apply(const Preempt& preempt, Time now);
  void apply(const Wait& wait, Time now);
  bool still_said(const Tracked& t, const api::Condition& quota, std::string_view reason) const;

  const EngineFacts& facts_;
  const Scheduler& scheduler_;
  TrackedWorkloads& workloads_;
  const WorkloadViews& views_;
  Messages& messages_;
  Transitions& transitions_;
};

}  // namespace berth::engine
