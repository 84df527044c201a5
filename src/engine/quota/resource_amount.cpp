#include "engine/quota/resource_amount.h"

namespace berth::engine {

std::vector<ResourceAmount> amounts_of(const api::ResourceList& list, Names& names) {
  std::vector<ResourceAmount> amounts;  // a std::map, so already sorted by name
  for (const auto& [resource, quantity] : list) {
    amounts.push_back({names.resource(resource), to_amount(resource, quantity)});
  }
  return amounts;
}

}  // namespace berth::engine
