// What a pending workload lacked when it was evaluated last.
#pragma once

#include "base/amount.h"
#include "engine/quota/ids.h"

namespace berth::engine {

// A flavor-resource that was short and the amount wanted, or a flavor on whose nodes no place was found.
struct Lack {
  FlavorResourceId id{};  // invalid: no place was found
  Amount wanted{};
  FlavorId place{};
};

}  // namespace berth::engine
