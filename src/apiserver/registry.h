// The resources that are served right now.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/resource.h"

namespace berth::apiserver {

class Registry {
 public:
  // Every resource is passed through this when it is added: how admission of others joins a kind. Set before the first add().
  void set_decorator(std::function<ResourcePtr(ResourcePtr)> decorate) { decorate_ = std::move(decorate); }
  // Adds or replaces by group, version and resource.
  void add(ResourcePtr resource);
  void remove(const api::GroupVersionResource& gvr);
  ResourcePtr find(const api::GroupVersionResource& gvr) const;                       // null when not served
  ResourcePtr find_kind(std::string_view group, std::string_view version, std::string_view kind) const;
  std::vector<ResourcePtr> all() const;  // ordered by group, version, resource
  // Counts changes: caches of discovery and OpenAPI documents compare it.
  std::uint64_t generation() const { return generation_; }

 private:
  std::map<api::GroupVersionResource, ResourcePtr> resources_;
  std::uint64_t generation_ = 0;
  std::function<ResourcePtr(ResourcePtr)> decorate_;
};

}  // namespace berth::apiserver
