// Amounts in metrics: cpu in cores, everything else in units, no limit as infinity.
#pragma once

#include <limits>
#include <string_view>

#include "base/amount.h"

namespace berth::controller {

inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();

inline double units(std::string_view resource, Amount amount) {
  if (amount.is_unlimited()) return kUnlimited;
  const auto count = static_cast<double>(amount.count());
  return resource == "cpu" ? count / 1000 : count;
}

}  // namespace berth::controller
