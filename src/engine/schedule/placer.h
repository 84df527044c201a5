// Finds places for the pods of an assignment (KEP-2724): which pod sets need them, and where their pods go.
//
// Places are searched after the flavors are chosen, only on these flavors; the pod sets of one workload are placed
// together. Pod sets on a delayed flavor wait for the second pass. Workloads that need no places cost nothing here.
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

  // Completes an assignment. One that fits gets its places; if there are none it becomes kPreempt with
  // only_place_short. One that needs preemption is placed on an empty cluster instead; if that fails too, it becomes
  // kNoFit.
  void place(Entry& entry);
  // Searches the places of an assignment again, in the present state or trial. Returns false when there are none; the
  // assignment then keeps those it had.
  bool place_again(Entry& entry);
  // Whether the pods of these choices have places if no workload used any. The assignment stays as it is.
  bool places_on_empty(const Entry& entry);
  // Of the entry that was placed last; empty: it needs no places now. Points into the entry's shape.
  std::span<const PlaceRequest> requests() const { return requests_; }

  // Adds to what an assignment lacks: flavors that were not chosen, where free quota or capacity may help as well.
  static void note_others(Entry& entry);

  // Why there was no place, according to the present state; "" when there was one.
  std::string explain(const Entry& entry);
  // The places as a claim states them, by pod set that has places. Also sets `places` in `pod_sets`.
  std::vector<StatedPlaces> state(const Entry& entry, std::vector<PodSetFlavors>& pod_sets);

 private:
  // Fills asks_ and pod_sets_. Returns an error text when a pod set does not have exactly one flavor with a topology.
  std::string collect(const Entry& entry);
  std::string add_requests(const Entry& entry, const Plan::Unit& unit, std::size_t first_step);
  void note_no_place(Entry& entry, PlaceFailure failure);
  void note_lacks(Entry& entry);
  void never(Entry& entry, NoPlace why);

  Places& places_;
  const Names& names_;
  std::vector<PlaceRequest> requests_;
  std::vector<std::size_t> pod_sets_;  // by ask
};

}  // namespace berth::engine
