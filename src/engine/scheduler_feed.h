// Tells the scheduler about each workload: that it holds quota, waits for it, or neither.
#pragma once

#include "engine/engine_facts.h"
#include "engine/messages.h"
#include "engine/queue_reports.h"
#include "engine/schedule/scheduler.h"
#include "engine/second_pass_timers.h"
#include "engine/tracked.h"
#include "engine/workload_views.h"

namespace berth::engine {

class SchedulerFeed {
 public:
  SchedulerFeed(const EngineFacts& facts, Scheduler& scheduler, TrackedWorkloads& workloads, Slices& slices,
                WorkloadViews& views, QueueReports& reports, SecondPassTimers& second_passes, Messages& messages)
      : facts_(facts),
        scheduler_(scheduler),
        workloads_(workloads),
        slices_(slices),
        views_(views),
        reports_(reports),
        second_passes_(second_passes),
        messages_(messages) {}

  // Call it when the decided status or the queues of a workload may have changed. Files the workload under its queues
  // and sets its timers, too.
  void update(Tracked& t, Time now);

 private:
  void follow_slices(Tracked& t, Time now);
  void set_timer(Tracked& t);
  void say_of_this_generation(Tracked& t, Time now);

  const EngineFacts& facts_;
  Scheduler& scheduler_;
  TrackedWorkloads& workloads_;
  Slices& slices_;
  WorkloadViews& views_;
  QueueReports& reports_;
  SecondPassTimers& second_passes_;
  Messages& messages_;
};

}  // namespace berth::engine
