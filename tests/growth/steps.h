// Counts the steps of compiled code: how often each edge of its control flow is taken, and how many blocks of memory
// each call of memcpy and its like moves. The counts are exact: no clock, so a busy machine changes nothing.
//
// Only code that is compiled with -fsanitize-coverage=edge,trace-pc-guard counts (cmake/counted.cmake). Code of
// libraries that are linked does not.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace berth::growth {

using PlaceId = std::uint32_t;                                  // an edge, or a call that moves memory
using StepCounts = std::unordered_map<PlaceId, std::uint64_t>;  // places that were not reached are absent

// Runs the function and counts its steps. Counts do not nest, and one thread at a time may count.
StepCounts count_steps(const std::function<void()>& run);

// Where the places are: a line with function, file and line for each, or the addresses when no tool can tell. When some
// are in our files, those in libraries are left out. Empty when all are parts of std::sort, which promises n log n, or
// the comparisons that it calls.
std::string describe_places(const std::vector<PlaceId>& places);

// The places whose steps grow faster than the size of the input: about four times as many for twice the size. `steps`
// counts for a size; it is asked for doubled sizes. A place counts only if it is passed at least once for every four
// pairs of items, and if it grows so again at the next two sizes: hash tables, sorts and limits are uneven, but not for
// long.
std::vector<PlaceId> places_that_grow_faster(const std::function<StepCounts(std::size_t size)>& steps,
                                             std::size_t first_size);

}  // namespace berth::growth
