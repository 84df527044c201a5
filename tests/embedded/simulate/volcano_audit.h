// Invariants of Volcano's queues: after each decision round of the engine, and when the cluster is at rest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/controller.h"
#include "embedded/simulate/world.h"
#include "engine/engine.h"
#include "volcano/drawing.h"

namespace berth::simulation {

class VolcanoAudit {
 public:
  // Returns each violation as a sentence, judged by the queues in the controller's caches. The invariants:
  //  - a workload that was admitted in this round fitted: it took nothing that is guaranteed to other queues, and no
  //    queue went above its capability;
  //  - a workload that is preempted for another queue is in a reclaimable queue. If it is the minimum of its
  //    PodGroup, its queue holds more than it deserves of at least one of the workload's resources.
  std::vector<std::string> after_round(const controller::Controller& controller);
  void restarted() { known_.reset(); }  // the next round is the first one of a new controller

  std::uint64_t let_in() const { return let_in_; }
  std::uint64_t gave_way() const { return gave_way_; }

 private:
  void draw(const controller::Controller& controller, const std::vector<engine::HeldQuota>& claims);
  bool is_drawn(const std::string& queue) const;  // whether its chain of parents leads to root
  void check_let_in(const controller::Controller& controller, const engine::HeldQuota& claim,
                    std::vector<std::string>& broken);
  void check_evicted(const engine::HeldQuota& claim, std::vector<std::string>& broken);

  volcano::testing::Drawing drawing_;
  // Workloads that held quota after the last round: uid -> whether it is being preempted. nullopt: no round yet.
  std::optional<std::map<std::string, bool>> known_;
  std::uint64_t let_in_ = 0, gave_way_ = 0;
};

// The model of these queues, together with Kueue's shared ClusterQueue.
volcano::testing::Drawing draw_queues(const std::vector<Json>& queues);

// Compares status.allocated of each queue with what the PodGroups in it and below it hold, running pods included.
// Returns each difference as a sentence. Empty when the cluster is at rest.
std::vector<std::string> compare_statuses(simulate::World& world);

}  // namespace berth::simulation
