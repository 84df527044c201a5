// Applies transitions of the table of states to workloads: the decided status, its events and counts.
#pragma once

#include <string>

#include "api/kueue/workload_ref.h"
#include "engine/census.h"
#include "engine/effects.h"
#include "engine/engine_facts.h"
#include "engine/lifecycle/change.h"
#include "engine/lifecycle/next.h"
#include "engine/schedule/scheduler.h"
#include "engine/tracked.h"
#include "engine/workload_writes.h"

namespace berth::engine {

class Transitions {
 public:
  Transitions(const EngineFacts& facts, const Scheduler& scheduler, Census& census, WorkloadWrites& writes)
      : facts_(facts), scheduler_(scheduler), census_(census), writes_(writes) {}

  void apply(Tracked& t, lifecycle::Change change);
  // Notes why it waits.
  void note_pending(Tracked& t, lifecycle::PendingReason why, Time now);

 private:
  const EngineFacts& facts_;
  const Scheduler& scheduler_;
  Census& census_;
  WorkloadWrites& writes_;
};

// The UID of the job that owns the workload (label kueue.x-k8s.io/job-uid); "" without that label.
std::string job_uid_of(const api::kueue::WorkloadRef& workload);
// An event about a workload; its note is cut at the API's limit of 1024 bytes.
RecordEvent event_about(const api::kueue::WorkloadRef& workload, const lifecycle::Note& note);

}  // namespace berth::engine
