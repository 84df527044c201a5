// When workloads need their next second pass (KEP-2724).
//
// Whether a workload needs it follows from its state alone; this is checked when its timer is set and again when it
// fires. The timers live only here: after a restart they begin with the shortest delay.
#pragma once

#include <string>
#include <vector>

#include "engine/tracked.h"
#include "engine/workload_views.h"

namespace berth::engine {

class SecondPassTimers {
 public:
  explicit SecondPassTimers(const WorkloadViews& views) : views_(views) {}
  // A copy about the same workloads of `workloads`, which is a copy of the other's.
  SecondPassTimers(const SecondPassTimers& other, const WorkloadViews& views, const TrackedWorkloads& workloads)
      : views_(views), due_(workloads.same(other.due_)) {}

  // Sets or ends the timer of the workload, as its decided status requires.
  void plan(Tracked& t, Time now);
  // The workloads that are due, in the order of admission: higher priority, older queue-order timestamp, UID.
  std::vector<Tracked*> take_due();
  // The pass found no places: the next one follows after a longer delay.
  void failed(Tracked& t, const std::string& message, Time now);
  void forget(Tracked& t) { due_.erase(&t); }

 private:
  const WorkloadViews& views_;
  TrackedWorkloads::Set due_;
};

}  // namespace berth::engine
