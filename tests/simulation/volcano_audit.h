// What must hold of Volcano's queues: whenever the engine has decided, and when everything is at rest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/controller.h"
#include "engine/engine.h"
#include "simulate/world.h"
#include "volcano/drawing.h"

namespace berth::simulation {

class VolcanoAudit {
 public:
  // Broken promises, as sentences, in the queues as the controller's caches have them:
  //  who was let in just now found room: what it took was not kept for others, and nobody came above a
  //  capability by it; who has to give way to another queue is in one that holds more than it deserves, and
  //  from which others may take.
  std::vector<std::string> after_round(const controller::Controller& controller);
  void restarted() { known_.reset(); }  // the next round is the first one of another controller

  std::uint64_t let_in() const { return let_in_; }
  std::uint64_t gave_way() const { return gave_way_; }

 private:
  void draw(const controller::Controller& controller, const std::vector<engine::HeldQuota>& claims);
  bool is_drawn(const std::string& queue) const;  // its parents lead to root
  void check_let_in(const controller::Controller& controller, const engine::HeldQuota& claim,
                    std::vector<std::string>& broken);
  void check_evicted(const engine::HeldQuota& claim, std::vector<std::string>& broken);

  volcano::testing::Drawing drawing_;
  std::optional<std::map<std::string, bool>>
      known_;  // who held quota after the last round, by uid; whether it had to give way
  std::uint64_t let_in_ = 0, gave_way_ = 0;
};

// The queues of the server, root and what Kueue's queue brings among them.
volcano::testing::Drawing draw_queues(const std::vector<Json>& queues);

// Where the statuses of queues differ from what their PodGroups, with what runs of them, hold in them and
// below them. Empty once everything is at rest.
std::vector<std::string> compare_statuses(simulate::World& world);

}  // namespace berth::simulation
