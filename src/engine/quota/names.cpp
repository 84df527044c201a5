#include "engine/quota/names.h"

namespace berth::engine {

FlavorResourceId Names::pair(FlavorId flavor, ResourceId resource) {
  if (by_flavor_.size() <= flavor.index()) by_flavor_.resize(flavor.index() + 1);
  auto& row = by_flavor_[flavor.index()];
  if (row.size() <= resource.index()) row.resize(resource.index() + 1);
  FlavorResourceId& id = row[resource.index()];
  if (!id.valid()) {
    id = FlavorResourceId(pairs_.size());
    pairs_.push_back({flavor, resource});
  }
  return id;
}

FlavorResourceId Names::find_pair(FlavorId flavor, ResourceId resource) const {
  if (!flavor.valid() || !resource.valid() || by_flavor_.size() <= flavor.index()) return {};
  const auto& row = by_flavor_[flavor.index()];
  return row.size() <= resource.index() ? FlavorResourceId() : row[resource.index()];
}

}  // namespace berth::engine
