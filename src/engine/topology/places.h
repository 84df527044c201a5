// The topology ledger's facade: which nodes there are, who holds how much of them, and where a gang would fit
// (KEP-2724; kueue.md 4).
//
// Room is used by claims (the places of a workload that was admitted) and by pods that hold a node. For each
// workload and node the larger of both counts: a claim is a promise, and a pod that outlives it (terminating,
// left over from an earlier place) still fills its node. Pods without a placed workload count by themselves.
// Claims and pods may name nodes, flavors and topologies that do not exist (yet, or any more): they count
// again as soon as these come back, so that a rebuilt ledger equals the one that grew.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod_placement.h"
#include "api/core/scheduling.h"
#include "api/kueue/types.h"
#include "engine/quota/ids.h"
#include "engine/quota/names.h"
#include "engine/schedule/shape.h"
#include "engine/topology/options.h"

namespace berth::engine {

// A lowest domain: a node, or a group of nodes where the lowest level is coarser. Good until the world
// changes, and as long as a claim or hold names it.
using SpotId = Id<struct SpotTag>;

struct Place {
  SpotId spot;
  std::int32_t pods = 0;
  bool operator==(const Place&) const = default;
};

// What one pod asks of a node. The implicit `pods: 1` is added inside.
struct PodAsk {
  std::span<const ResourceAmount> requests;  // of the raw pod spec: no quota transformation
  const api::NodeConstraints* constraints =
      nullptr;  // template, updates of checks; the flavor's tolerations are added inside
};

// One pod set that wants places. Asks of one workload are placed together: each sees what those before it
// took.
struct PlaceAsk {
  FlavorId flavor;
  std::int32_t count = 0;
  PodAsk pod;
  const api::kueue::TopologyRequest* request = nullptr;  // null or not explicit: unconstrained (implied)
  std::string_view group;  // pod sets of one group are leader and workers; "" alone
};

// The places of one pod set: what a claim is made of.
struct Placed {
  FlavorId flavor;
  std::vector<ResourceAmount> per_pod;
  std::vector<Place> places;  // ordered by the domains' level values; no empty ones
};

// Why asks cannot be placed: enough to render the message when somebody reads it.
struct PlaceFailure {
  std::size_t ask = 0;  // which of the asks
  std::string text;     // a fixed reason (stale assignment, bad slice size, ...); empty: too little room
  std::int32_t fits = 0, wanted = 0;  // pods, or slices
  bool slices = false;
  bool operator==(const PlaceFailure&) const = default;
};

struct Placement {
  bool ok = false;
  std::vector<Placed> pod_sets;  // by ask; one with count 0 has no places
  PlaceFailure failure;          // when not ok
};

// A claim as the API states it (after a restart, or as admitted).
struct StatedPlaces {
  std::string flavor;
  std::vector<ResourceAmount> per_pod;
  api::kueue::TopologyAssignmentPtr assignment;
};

class Places {
 public:
  Places(Names& names, TopologyOptions options);
  ~Places();
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  // --- The world. Each returns whether anything changed that placement looks at.
  bool set_node(const api::Node& node);
  bool remove_node(std::string_view name);
  bool set_topology(const api::kueue::Topology& topology);
  bool remove_topology(std::string_view name);
  bool set_flavor(FlavorId id, const api::kueue::ResourceFlavor& flavor);
  bool remove_flavor(FlavorId id);
  // A pod that holds a node (PodPlacement::holds_node); remove_pod() when it is gone or has terminated.
  bool set_pod(const api::PodPlacement& pod);
  bool remove_pod(std::string_view uid);

  // --- Claims. `holder` is "namespace/name" of the workload, as its pods name it.
  void take(WorkloadId workload, std::string_view holder, std::vector<Placed> placed);
  void take_stated(WorkloadId workload, std::string_view holder, const std::vector<StatedPlaces>& stated);
  void give_back(WorkloadId workload);
  bool holds(WorkloadId workload) const;

  // Room set aside for the rest of a scheduling cycle by workloads that wait for preemptions, and not a
  // claim.
  void hold(const std::vector<Placed>& placed);
  void drop_holds();

  // Flavors in whose nodes something got freer since the last call: claims, pods, nodes, configuration. Not
  // by trials or holds.
  std::vector<FlavorId> take_reliefs();

  // --- Questions.
  bool places_pods(FlavorId flavor) const;  // the flavor names a topology
  // Why a pod set with this request cannot use the flavor, whatever is free; "" when it can:
  //   explicit request and a flavor without topology:  Flavor "f" does not support TopologyAwareScheduling
  //   the topology does not exist (yet):               Flavor "f" information missing in TAS cache
  //   a level it does not have:                        Flavor "f" does not contain the requested level
  // and: malformed requests (slices that do not divide the count, a slice level above the requested one,
  // layers out of order).
  std::string mismatch(FlavorId flavor, const api::kueue::TopologyRequest* request, std::int32_t count) const;

  // Where the asks would go now. `on_empty`: as if no workload that places pods used anything; pods of others
  // stay.
  Placement place(std::span<const PlaceAsk> asks, bool on_empty = false);
  // "topology "t" allows to fit only 8 out of 9 pod(s). Total nodes: 12; excluded: resource "cpu": 8".
  std::string explain(std::span<const PlaceAsk> asks, const PlaceFailure& failure);

  // Anew, the places of a holder's pods that were on `failed` nodes; the others keep theirs. Required domains
  // and slices are kept whole (kueue.md 4.9). `current` is by ask; an ask without an assignment is left
  // alone. On success `pod_sets` has the complete places of every ask whose assignment changed; those of the
  // others are empty. A failure always has its text.
  Placement replace(std::span<const PlaceAsk> asks,
                    std::span<const api::kueue::TopologyAssignmentPtr> current,
                    std::span<const std::string> failed);

  api::kueue::TopologyAssignmentPtr assignment(const Placed& placed) const;

  // Supposes that claims were given back and the pods of their holders gone. Trials nest like scopes; while
  // one is open no claim, hold or configuration changes.
  class Trial {
   public:
    explicit Trial(Places& places);
    ~Trial();
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    void without(WorkloadId workload);  // nothing when it has no claim or is out already
    void again(WorkloadId workload);
    void without_holds();
    // Supposes that all pods are gone whose workload has no claim any more: they are on their way out. Not
    // those that had their time: five minutes since somebody waits for them and since their grace periods
    // ended. Returns when the first of the others will have had it; none when there are no others.
    // `only_looks`: nobody begins to wait.
    std::optional<Time> without_leavers(Time now, bool only_looks);

   private:
    Places& places_;
    std::size_t mark_;
  };

  // Broken invariants as sentences: usage against a recomputation from claims and pods, cached counts against
  // a fresh count, a spot whose claims alone exceed what the node had when they were taken. For tests: costs
  // a full recomputation.
  std::vector<std::string> check() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::engine
