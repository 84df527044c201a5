// The names of flavors and resources, and the (flavor, resource) pairs in use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "engine/quota/ids.h"

namespace berth::engine {

// Maps strings to dense ids, in order of first mention. A single name is never removed; when too many are unused, the
// whole scheduler is rebuilt (Engine::renumber()).
template <typename IdType>
class Interner {
 public:
  IdType intern(std::string_view name) {
    if (auto it = ids_.find(name); it != ids_.end()) return it->second;
    IdType id(names_.size());
    names_.emplace_back(name);
    ids_.emplace(names_.back(), id);
    return id;
  }
  IdType find(std::string_view name) const {  // invalid when never interned
    auto it = ids_.find(name);
    return it == ids_.end() ? IdType() : it->second;
  }
  const std::string& name(IdType id) const { return names_[id.index()]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
  // Looked up, never iterated.
  StringMap<IdType> ids_;
};

class Names {
 public:
  FlavorId flavor(std::string_view name) { return flavors_.intern(name); }
  ResourceId resource(std::string_view name) { return resources_.intern(name); }
  FlavorId find_flavor(std::string_view name) const { return flavors_.find(name); }
  ResourceId find_resource(std::string_view name) const { return resources_.find(name); }
  const std::string& name(FlavorId id) const { return flavors_.name(id); }
  const std::string& name(ResourceId id) const { return resources_.name(id); }

  FlavorResourceId pair(FlavorId flavor, ResourceId resource);
  FlavorResourceId find_pair(FlavorId flavor, ResourceId resource) const;  // invalid when never interned
  FlavorId flavor_of(FlavorResourceId id) const { return pairs_[id.index()].flavor; }
  ResourceId resource_of(FlavorResourceId id) const { return pairs_[id.index()].resource; }
  std::size_t pairs() const { return pairs_.size(); }
  std::size_t flavors() const { return flavors_.size(); }
  std::size_t resources() const { return resources_.size(); }
  std::size_t size() const { return flavors() + resources() + pairs(); }

 private:
  struct Pair {
    FlavorId flavor;
    ResourceId resource;
  };
  Interner<FlavorId> flavors_;
  Interner<ResourceId> resources_;
  std::vector<Pair> pairs_;
  std::vector<std::vector<FlavorResourceId>> by_flavor_;  // [flavor][resource], grown on demand
};

}  // namespace berth::engine
