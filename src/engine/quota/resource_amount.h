// Amounts of resources, by interned resource.
#pragma once

#include <vector>

#include "api/core/pod_resources.h"
#include "base/amount.h"
#include "engine/quota/names.h"

namespace berth::engine {

struct ResourceAmount {
  ResourceId resource;
  Amount amount;
  bool operator==(const ResourceAmount&) const = default;
};
std::vector<ResourceAmount> amounts_of(const api::ResourceList& list, Names& names);  // by resource name

}  // namespace berth::engine
