// The set of domains that holds a gang and leaves the least room.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::engine::topology {

// What a domain is good for: pods and whole slices of the workers, alone and beside the leader.
struct Offer {
  std::int32_t pods = 0, slices = 0;
  std::int32_t pods_with = 0, slices_with = 0;
  bool leader = false;  // the leader fits
};

// Of the sets of `size` offers that have room for `pods` pods (and for the leader, in one of them) the one
// with the least room in pods: indices, ascending. Among equals the set whose last offer comes first, then
// whose last but one does, and so on; of the same set the way whose leader comes first. A set with a leading
// part that is enough by itself does not count: it has more domains than it needs. Empty when there is no
// such set, or when the search would be too large.
std::vector<std::uint32_t> tightest(std::span<const Offer> offers, std::uint32_t size, std::int64_t pods,
                                    bool leader);

}  // namespace berth::engine::topology
