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
  // The flavor-resource was free, and others were short. When it becomes short too, queues that borrow it have victims.
  bool was_free = false;
};

}  // namespace berth::engine
