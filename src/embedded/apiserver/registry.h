// The resources that are served now.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "embedded/apiserver/resource.h"

namespace berth::apiserver {

class Registry {
 public:
  // `decorate` is applied to every resource when it is added; this is how external admission is added to a kind. Set
  // it before the first add().
  void set_decorator(std::function<ResourcePtr(ResourcePtr)> decorate) { decorate_ = std::move(decorate); }
  // Adds the resource, or replaces the one with the same group, version and resource.
  void add(ResourcePtr resource);
  void remove(const api::GroupVersionResource& gvr);
  ResourcePtr find(const api::GroupVersionResource& gvr) const;  // null when not served
  ResourcePtr find_kind(std::string_view group, std::string_view version, std::string_view kind) const;
  std::vector<ResourcePtr> all() const;  // ordered by group, version, resource
  // Incremented by each change; discovery and OpenAPI caches compare it.
  std::uint64_t generation() const { return generation_; }

 private:
  std::map<api::GroupVersionResource, ResourcePtr> resources_;
  std::uint64_t generation_ = 0;
  std::function<ResourcePtr(ResourcePtr)> decorate_;
};

}  // namespace berth::apiserver
