// Compares resourceVersions: Kubernetes defines them as decimal numbers without leading zeros that grow with every
// change (KEP-5504).
#pragma once

#include <string_view>

namespace berth::engine {

inline bool older(std::string_view a, std::string_view b) { return a.size() != b.size() ? a.size() < b.size() : a < b; }

}  // namespace berth::engine
