// The changes of a WhatIf as events of the engine.
//
//   spec.apply: objects as they would be stored: Kueue's kinds, Nodes, and jobs that are described or batch/v1 Jobs
//   spec.delete: [{kind, namespace, name}]: ClusterQueue, Cohort, LocalQueue, ResourceFlavor, Topology,
//     AdmissionCheck, Workload, Node
//   spec.drain: [{key, value}]: all nodes with this label go
#pragma once

#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "engine/engine.h"

namespace berth::cli {

// Error: the path of the object in the WhatIf, and what was expected there. At most kMaxWhatIfObjects changes.
inline constexpr std::size_t kMaxWhatIfObjects = 1'000;
Result<std::vector<engine::Event>> changes_of(const Json& what_if, const engine::Engine& engine, Time now);

// Whether a WhatIf tries at most kMaxLocalObjects jobs and Workloads, all of this namespace; "": of all, and anything
// else. The error names the field. What many workloads wait for takes long to predict, and the controller waits for the
// answer.
inline constexpr std::size_t kMaxLocalObjects = 16;
Result<void> check_local(const Json& what_if, std::string_view ns);

}  // namespace berth::cli
