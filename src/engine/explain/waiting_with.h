// Which workloads a prediction answers for together.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace berth::engine {

// A name for all that competes with the workloads of a cluster queue: its tree of cohorts or, where workloads have
// places in topologies, everything.
std::string competition_of(const Engine& engine, const std::string& cluster_queue);

// The workload itself, then the first ones that wait in each cluster queue of its tree of cohorts, in turns, at most
// `most` altogether; keys "namespace/name". The workload alone when it is not pending.
std::vector<std::string> waiting_with(const Engine& engine, std::string_view ns, std::string_view name,
                                      std::size_t most);

}  // namespace berth::engine
