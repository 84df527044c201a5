// The requests of a workload, compiled. Workloads with equal requests share one shape, so that they can share
// verdicts.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/core/scheduling.h"
#include "engine/queue/workload.h"
#include "engine/quota/names.h"
#include "engine/quota/resource_amount.h"

namespace berth::engine {

using ShapeId = Id<struct ShapeTag>;

struct Shape {
  struct PodSet {
    std::string name;
    std::int32_t count = 0;
    std::int32_t min_count = 0;  // equals `count` when it must not be reduced
    std::string group;
    std::vector<ResourceAmount> per_pod;  // by resource name: requests that the node must satisfy
    std::vector<ResourceAmount> counted;  // by resource name: what counts against quota
    api::NodeConstraints constraints;
    std::optional<api::kueue::TopologyRequest>
        topology;  // explicit requests only; without one, the pod set alone requires no places
    std::optional<api::kueue::TopologySpreading> spreading;
  };
  std::vector<PodSet> pod_sets;
  bool reducible = false;  // some pod set may be admitted with fewer pods
};

// Interned shapes with reference counts; the id of an unused shape is reused.
class ShapeTable {
 public:
  ShapeId acquire(const std::vector<PodSetRequest>& pod_sets, Names& names);
  void acquire_again(ShapeId id) { ++slots_[id.index()].users; }
  // Returns true when the shape is no longer used.
  bool release(ShapeId id);
  const Shape& operator[](ShapeId id) const { return slots_[id.index()].shape; }

 private:
  struct Slot {
    Shape shape;
    std::string key;
    std::size_t users = 0;
  };
  std::vector<Slot> slots_;
  std::vector<ShapeId> free_;
  // Looked up, never iterated.
  std::unordered_map<std::string, ShapeId> by_key_;
};

}  // namespace berth::engine
