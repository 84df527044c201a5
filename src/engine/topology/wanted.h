// A topology request in terms of a topology's levels: which level, required or preferred, and which slices
// (KEP-2724).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/kueue/types.h"
#include "base/result.h"
#include "engine/topology/options.h"
#include "engine/topology/view.h"

namespace berth::engine::topology {

struct Wanted {
  std::size_t level = 0;  // the level where one domain holds all pods
  bool required = false;
  bool unconstrained = false;  // no level requested; also for requests with slices only
  // Slices: `slice_size` pods in one domain of `slice_level`; without slices, size 1 at the lowest level. Below that
  // level pods are placed in units of `inner[level]`.
  std::size_t slice_level = 0;
  std::int32_t slice_size = 1;
  std::vector<std::int32_t> inner;  // by level
  bool layered = false;             // slices of slices

  bool least_free(const TopologyOptions& options) const { return unconstrained && options.mixed_profile; }
  std::int32_t slices(std::int32_t pods) const { return pods / slice_size; }  // whole ones
  // The pods of the last, smaller slice; 0: there is none.
  std::int32_t tail(std::int32_t pods) const { return pods % slice_size; }
};

// Returns an error when this flavor can never satisfy the request, whatever is free. request null: implied,
// unconstrained.
tl::expected<Wanted, std::string> understand(const View& view, const std::string& flavor,
                                             const api::kueue::TopologyRequest* request, std::int32_t count,
                                             const TopologyOptions& options);

}  // namespace berth::engine::topology
