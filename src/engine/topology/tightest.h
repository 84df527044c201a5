// The set of domains that can hold a gang and has the least capacity.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::engine::topology {

// The capacity of a domain: pods and whole slices of the workers, alone and beside the leader.
struct Offer {
  std::int32_t pods = 0, slices = 0;
  std::int32_t pods_with = 0, slices_with = 0;
  bool leader = false;  // the leader fits
};

// Chooses, from all sets of `size` offers with capacity for `pods` pods (and for the leader, in one of them), the set
// with the least capacity in pods. Returns its indices, ascending. Among equals: the set whose last offer comes
// first, then whose last but one does, and so on; of the same set, the variant whose leader comes first. A set of
// which a prefix already suffices does not count: it has more domains than needed. Returns an empty vector when there
// is no such set or the search would be too large.
std::vector<std::uint32_t> tightest(std::span<const Offer> offers, std::uint32_t size, std::int64_t pods, bool leader);

}  // namespace berth::engine::topology
