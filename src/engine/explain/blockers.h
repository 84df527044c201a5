// What keeps a workload from being evaluated at all, and what ends that.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/explanation.h"
#include "engine/lifecycle/next.h"
#include "engine/queue/workload.h"
#include "engine/registries.h"
#include "engine/tracked.h"

namespace berth::engine {

struct BlockerQuestion {
  const Tracked& workload;
  const Registries& registries;
  lifecycle::Situation situation;
  std::optional<Pending> pending;  // as submitted; none: it holds quota, or it is not submitted
  std::string message;             // of its condition that says why it waits
  bool blocked_by_pods = false;    // waitForPodsReady.blockAdmission holds all admissions back
  Time now{};
};
std::vector<Explanation::Blocker> blockers_of(const BlockerQuestion& question);

}  // namespace berth::engine
