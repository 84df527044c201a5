// What one pod takes, as numbers: resources that nodes have are columns; equal requests share one id.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "api/core/pod_resources.h"
#include "engine/quota/names.h"
#include "engine/schedule/shape.h"

namespace berth::engine::topology {

__extension__ typedef __int128
    Wide;  // sums of 64-bit amounts times pods: cannot overflow, so that what was added can be taken off

// The resources that some node has or had, in order of first mention. Pods do not add any: nobody but who
// makes nodes decides how many there are.
class Columns {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t find(ResourceId resource) const {
    return resource.index() < by_resource_.size() ? by_resource_[resource.index()] : kNone;
  }
  std::uint32_t add(ResourceId resource);  // or the one it has
  ResourceId resource(std::uint32_t column) const { return resources_[column]; }
  std::size_t size() const { return resources_.size(); }

 private:
  std::vector<std::uint32_t> by_resource_;
  std::vector<ResourceId> resources_;
};

using RequestId = Id<struct RequestTag>;

struct Cell {
  std::uint32_t column = 0;
  std::int64_t amount = 0;  // above 0
};

// Requests of single pods, counted by their users.
class RequestPool {
 public:
  explicit RequestPool(Names& names) : names_(names), pods_(names.resource("pods")) {}

  // One user more of these requests and one pod. Amounts of 0 or less ask for nothing.
  RequestId acquire(std::span<const ResourceAmount> requests);
  RequestId acquire(const api::ResourceList& requests);
  void acquire_again(RequestId id) { ++slots_[id.index()].users; }
  void release(RequestId id);

  std::span<const Cell> cells(RequestId id) const { return slots_[id.index()].cells; }
  // A resource asked for that no node has, the first by name; invalid when there is none.
  ResourceId unknown(RequestId id) const { return slots_[id.index()].unknown; }
  const Columns& columns() const { return columns_; }
  // The column of a resource that a node has.
  std::uint32_t add_column(ResourceId resource);
  const Names& names() const { return names_; }

 private:
  struct Slot {
    std::vector<ResourceAmount> amounts;  // by resource id, each once, above 0
    std::vector<Cell> cells;              // of those that have a column, by column
    ResourceId unknown;
    std::string key;
    std::uint32_t users = 0;
  };
  RequestId intern();  // scratch_
  void compile(Slot& slot) const;

  Names& names_;
  ResourceId pods_;
  Columns columns_;
  std::vector<Slot> slots_;
  std::vector<RequestId> free_;
  boost::unordered_flat_map<std::string, RequestId> by_key_;  // Looked up, never iterated.
  std::vector<ResourceAmount> scratch_;
};

}  // namespace berth::engine::topology
