#include "embedded/apiserver/registry.h"

namespace berth::apiserver {

void Registry::add(ResourcePtr resource) {
  if (decorate_) resource = decorate_(std::move(resource));
  resources_[resource->gvr] = std::move(resource);
  ++generation_;
}

void Registry::remove(const api::GroupVersionResource& gvr) {
  if (resources_.erase(gvr) > 0) ++generation_;
}

ResourcePtr Registry::find(const api::GroupVersionResource& gvr) const {
  const auto it = resources_.find(gvr);
  return it == resources_.end() ? nullptr : it->second;
}

ResourcePtr Registry::find_kind(std::string_view group, std::string_view version, std::string_view kind) const {
  for (const auto& [gvr, resource] : resources_) {
    if (gvr.group == group && gvr.version == version && resource->kind == kind) return resource;
  }
  return nullptr;
}

std::vector<ResourcePtr> Registry::all() const {
  std::vector<ResourcePtr> all;
  all.reserve(resources_.size());
  for (const auto& [gvr, resource] : resources_) all.push_back(resource);
  return all;
}

}  // namespace berth::apiserver
