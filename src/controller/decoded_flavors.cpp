#include "controller/decoded_flavors.h"

#include <algorithm>

#include "base/planted.h"

namespace berth::controller {

void DecodedFlavors::changed(const std::string& name, const Ptr& now) {
  if (!now) {
    flavors_.erase(name);
  } else if (!planted(Planted::kFlavorOnce) || !flavors_.contains(name)) {
    flavors_.insert_or_assign(name, now);
  }
}

const api::kueue::ResourceFlavor* DecodedFlavors::find(std::string_view name) const {
  const auto it = flavors_.find(name);
  return it == flavors_.end() ? nullptr : it->second.get();
}

bool DecodedFlavors::any_with_topology() const {
  return std::ranges::any_of(flavors_, [](const auto& flavor) { return !flavor.second->topology_name.empty(); });
}

}  // namespace berth::controller
