// How many devices can be taken together when they take of shared counters (KEP-4815, partitionable devices).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/quantity.h"

namespace berth::jobs::devices {

// A counter of one counter set, as an index into what is left of the counters.
struct CounterUse {
  std::size_t counter = 0;
  Quantity amount;
};
using CounterUses = std::vector<CounterUse>;

// How many of the candidates fit into what is left of the counters. Exact, unless it takes more than kMostSteps steps
// to find out: then not less than the truth.
inline constexpr int kMostPackingSteps = 4096;
std::int64_t most_together(const std::vector<CounterUses>& candidates, std::vector<Quantity> left);

}  // namespace berth::jobs::devices
