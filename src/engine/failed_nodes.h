// Which nodes of a workload count as failed (KEP-2724, failed node replacement).
#pragma once

#include "engine/engine_facts.h"
#include "engine/lifecycle/next.h"
#include "engine/node_watch.h"
#include "engine/tracked.h"
#include "engine/workload_views.h"

namespace berth::engine {

class FailedNodes {
 public:
  FailedNodes(const EngineFacts& facts, WorkloadViews& views, NodeWatch& nodes)
      : facts_(facts), views_(views), nodes_(nodes) {}

  // Watches the nodes on which the workload has places, as decided.
  void watch(Tracked& t);
  // Adds the failed nodes to the situation, and notes in the workload when the next one will count as failed.
  void look_at(Tracked& t, lifecycle::Situation& situation, Time now) const;

 private:
  void keep_flavors(Tracked& t) const;

  const EngineFacts& facts_;
  WorkloadViews& views_;
  NodeWatch& nodes_;
};

}  // namespace berth::engine
