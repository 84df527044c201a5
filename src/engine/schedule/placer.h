// Places for the pods of an assignment (KEP-2724; kueue.md 3.5, 4.1): which pod sets want some, and where
// they go.
//
// Places are looked for once the flavors are chosen, on these flavors only; pod sets of one workload are
// placed together. Those on a delayed flavor wait for the second pass. Workloads that want no places cost
// nothing here.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/schedule/entry.h"
#include "engine/topology/places.h"

namespace berth::engine {

class Placer {
 public:
  Placer(Places& places, const Names& names) : places_(places), names_(names) {}

  // Completes an assignment. One that fits gets its places; without room it becomes kPreempt, for want of
  // place only. One that would preempt is tried on an empty cluster: when there is no place even there, it
  // becomes kNoFit.
  void place(Entry& entry);
  // The places of an assignment that fits or preempts, anew, in the present state or trial. False: none, and
  // it keeps those it had.
  bool place_again(Entry& entry);
  // Of the entry last placed; empty: it wants no places now. Points into the entry's shape.
  std::span<const PlaceAsk> asks() const { return asks_; }

  // Why there was no place, as of now; "" when there was one.
  std::string explain(const Entry& entry);
  // As a claim states it, by pod set that has places; fills in the assignments of `pod_sets`.
  std::vector<StatedPlaces> state(const Entry& entry, std::vector<PodSetFlavors>& pod_sets);

 private:
  std::string collect(
      const Entry& entry);  // fills asks_ and pod_sets_; a text when a pod set has not one flavor
  std::string add_asks(const Entry& entry, const Plan::Unit& unit, std::size_t first_step);
  void no_room(Entry& entry, PlaceFailure failure);
  void note_lacks(Entry& entry);
  void note_untried(Entry& entry);
  void never(Entry& entry, NoPlace why);

  Places& places_;
  const Names& names_;
  std::vector<PlaceAsk> asks_;
  std::vector<std::size_t> pod_sets_;  // by ask
};

}  // namespace berth::engine
