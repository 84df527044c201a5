// The annotation kueue.x-k8s.io/priority-boost of a workload: a signed integer that counts like priority
// (KEP-7990).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/meta.h"

namespace berth::api::kueue {

// "15", "-5", "+3"; none when it is no integer of 32 bits.
std::optional<std::int32_t> parse_priority_boost(std::string_view text);
// Of an object; none when it has no such annotation or one that cannot be read.
std::optional<std::int32_t> priority_boost(const ObjectMeta& meta);

}  // namespace berth::api::kueue
