// A topology request against the levels of a topology: which level, how strictly, in which slices
// (kueue.md 4.4).
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
  std::size_t level = 0;  // where all pods shall be in one domain
  bool required = false;
  bool unconstrained = false;  // no wish: also requests for slices alone
  // Slices: `slice_size` pods in one domain of `slice_level`; 1 at the lowest level when none are asked for.
  // Below that level, pods go in units of `inner[level]`.
  std::size_t slice_level = 0;
  std::int32_t slice_size = 1;
  std::vector<std::int32_t> inner;  // by level
  bool layered = false;             // slices of slices

  bool least_free(const TopologyOptions& options) const { return unconstrained && options.mixed_profile; }
  std::int32_t slices(std::int32_t pods) const { return pods / slice_size; }
};

// Or why the request cannot be met by this flavor whatever is free; null: an implied request, unconstrained.
tl::expected<Wanted, std::string> understand(const View& view, const std::string& flavor,
                                             const api::kueue::TopologyRequest* request, std::int32_t count,
                                             const TopologyOptions& options);

}  // namespace berth::engine::topology
