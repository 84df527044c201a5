// The annotation kueue.x-k8s.io/priority-boost of a workload: a signed integer that is added to its priority
// (KEP-7990).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/meta.h"

namespace berth::api::kueue {

// Parses "15", "-5", "+3"; nullopt when the text is not a 32-bit integer.
std::optional<std::int32_t> parse_priority_boost(std::string_view text);
// The boost of an object; nullopt when the annotation is absent or invalid.
std::optional<std::int32_t> priority_boost(const ObjectMeta& meta);

}  // namespace berth::api::kueue
