// The surplus of a PodGroup as several workloads of the engine, so that an eviction takes no more pods than are needed.
//
// The parts have 1, 2, 4, ... pods, and the last one the rest: some of them together have any number of pods. Which
// pods are meant is open. When parts are evicted, as many of the newest pods are deleted.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/core/pod_resources.h"
#include "api/kueue/types.h"

namespace berth::volcano {

struct SurplusPart {
  std::int64_t pods = 0;
  bool evicted = false;
};
SurplusPart surplus_part(const api::kueue::Workload& workload);

// The numbers of pods of the parts; some may be 0. `before`: the present parts. While one of them is evicted, pods that
// are gone are taken from the evicted ones first, and the others stay as they are.
std::vector<std::int64_t> part_sizes(std::int64_t pods, const std::vector<SurplusPart>& before);

// `whole`: surplus_of(). Together the parts request what it requests, each in proportion to its pods. nullopt: a part
// without pods. Whole, when it has no pods above the minimum.
std::vector<std::optional<api::kueue::Workload>> surplus_parts(const std::optional<api::kueue::Workload>& whole,
                                                               const std::vector<SurplusPart>& before);

// What the admission of the workload holds, with "pods".
api::ResourceList held_by(const api::kueue::Workload& workload);

}  // namespace berth::volcano
