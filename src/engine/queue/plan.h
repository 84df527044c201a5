// How one shape maps to the resource groups of one cluster queue: compiled once, used in every evaluation.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "engine/queue/shape.h"
#include "engine/quota/ids.h"

namespace berth::engine {

// Pod sets that are assigned together get the same flavors; most units contain one pod set.
struct Plan {
  struct Want {  // one resource of a unit
    ResourceId resource;
    std::vector<Amount> per_pod;  // by pod set of the unit; zero where it requests nothing
    bool requests_nothing() const {
      return std::all_of(per_pod.begin(), per_pod.end(), [](Amount a) { return a.is_zero(); });
    }
  };
  enum class Placing : std::uint8_t { kNone, kNow, kLater };  // kLater: in the second pass
  struct Step {  // the resources of a unit that one group covers, or one resource that no group covers
    std::int32_t group = -1;
    std::vector<Want> wants;            // by resource name
    std::vector<std::string> mismatch;  // by flavor of the group: why the pods may not run there; "" when they may
    std::vector<std::vector<FlavorResourceId>> ids;  // by flavor, want
    std::vector<Placing> placing;                    // by flavor: whether and when pods get places there
    bool requests_nothing() const {
      return std::all_of(wants.begin(), wants.end(), [](const Want& want) { return want.requests_nothing(); });
    }
  };
  struct Unit {
    std::vector<std::size_t> pod_sets;  // indices into the shape
    std::vector<Step> steps;            // in the order in which Kueue visits the resources
  };
  std::vector<Unit> units;
  std::vector<bool> wants_places;  // by pod set; empty when none does
  std::size_t steps = 0;           // of all units
  std::size_t flavors_tried = 0;   // maximum number of flavors tried in one walk over all steps
};

}  // namespace berth::engine
