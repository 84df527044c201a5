// The requests of one pod as numbers: each resource of a node has a column; equal requests share one id.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "api/core/pod_resources.h"
#include "engine/quota/names.h"
#include "engine/quota/resource_amount.h"

namespace berth::engine::topology {

__extension__ typedef __int128
    Wide;  // sums of 64-bit amounts times pods: cannot overflow, so subtraction exactly undoes addition

// The resources that any node has or had, in order of first mention. Pods add only ports of nodes (api::host_ports), so
// that their number depends otherwise on nodes alone.
class Columns {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t find(ResourceId resource) const {
    return resource.index() < by_resource_.size() ? by_resource_[resource.index()] : kNone;
  }
  std::uint32_t add(ResourceId resource);  // returns the existing column if there is one
  // As add(), for a port of the node: every node has one.
  void add_port(ResourceId resource);
  bool is_port(std::uint32_t column) const { return column < ports_.size() && ports_[column]; }
  ResourceId resource(std::uint32_t column) const { return resources_[column]; }
  std::size_t size() const { return resources_.size(); }

 private:
  std::vector<std::uint32_t> by_resource_;
  std::vector<ResourceId> resources_;
  std::vector<bool> ports_;  // by column; missing: no port
};

using RequestId = Id<struct RequestTag>;

struct Cell {
  std::uint32_t column = 0;
  std::int64_t amount = 0;  // above 0
};

// The requests of single pods, with reference counts.
class RequestPool {
 public:
  explicit RequestPool(Names& names) : names_(names), pods_(names.resource("pods")) {}
  // A copy that uses `names`, which must be a copy of the other's names.
  RequestPool(const RequestPool& other, Names& names)
      : names_(names),
        pods_(other.pods_),
        columns_(other.columns_),
        slots_(other.slots_),
        free_(other.free_),
        by_key_(other.by_key_) {}
  RequestPool(const RequestPool&) = delete;
  RequestPool& operator=(const RequestPool&) = delete;

  // Adds a reference to these requests plus one pod. Amounts of 0 or less are ignored.
  RequestId acquire(std::span<const ResourceAmount> requests);
  RequestId acquire(const api::ResourceList& requests);
  RequestId acquire_without_pod(const api::ResourceList& requests);  // the same without the pod
  void acquire_again(RequestId id) { ++slots_[id.index()].users; }
  void release(RequestId id);

  std::span<const Cell> cells(RequestId id) const { return slots_[id.index()].cells; }
  // The first resource by name that is requested but that no node has; invalid when there is none.
  ResourceId unknown(RequestId id) const { return slots_[id.index()].unknown; }
  std::int64_t amount(RequestId id, ResourceId resource) const;  // of this resource; 0: it is not requested
  const Columns& columns() const { return columns_; }
  // The column of a node's resource; adds it if necessary.
  std::uint32_t add_column(ResourceId resource);
  const Names& names() const { return names_; }

 private:
  struct Slot {
    std::vector<ResourceAmount> amounts;  // by resource id, each once, above 0
    std::vector<Cell> cells;              // for amounts that have a column, by column
    ResourceId unknown;
    std::string key;
    std::uint32_t users = 0;
  };
  RequestId intern();  // the requests in scratch_
  void read(const api::ResourceList& requests);
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
