// The topology ledger: which nodes exist, which workloads hold how much of them, and where a gang of pods fits
// (KEP-2724).
//
// Capacity is used by claims (the places of an admitted workload) and by pods that occupy a node. For each workload
// and node the larger of both counts: a claim is a promise, and a pod that outlives its claim (terminating, or left
// over from an earlier place) still uses its node. Pods without a placed workload count by themselves. Claims and
// pods may name nodes, flavors and topologies that do not exist; they count again as soon as these are back, so that
// a rebuilt ledger equals an incrementally updated one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/node.h"
#include "api/core/scheduling.h"
#include "api/kueue/pod_placement.h"
#include "api/kueue/topology_spreading.h"
#include "api/kueue/types.h"
#include "engine/quota/ids.h"
#include "engine/quota/names.h"
#include "engine/quota/resource_amount.h"
#include "engine/topology/options.h"

namespace berth::engine {

// A lowest-level domain: a node, or a group of nodes when the lowest level is coarser. Valid until nodes or
// configuration change, and while a claim or hold names it.
using LeafDomainId = Id<struct LeafDomainTag>;

struct Place {
  LeafDomainId leaf_domain;
  std::int32_t pods = 0;
  bool operator==(const Place&) const = default;
};

// The requirements of one pod. The implicit `pods: 1` is added internally.
struct PodAsk {
  std::span<const ResourceAmount> requests;  // requests of the pod spec, without quota transformations
  const api::NodeConstraints* constraints =
      nullptr;  // of the template plus updates from admission checks; the flavor's tolerations are added internally
};

// One pod set to place. The asks of one workload are placed together: each takes the previous ones into account.
struct PlaceRequest {
  FlavorId flavor;
  std::int32_t count = 0;
  PodAsk pod;
  const api::kueue::TopologyRequest* request = nullptr;  // null or not explicit: unconstrained (implied)
  std::string_view group;                                // pod sets of one group are leader and workers; "": alone
  std::string_view unit{};  // what is counted where workloads are spread: the group, or the name of the pod set
  const api::kueue::TopologySpreading* spreading = nullptr;  // null: it is not spread; not for replace()
  // Places of pods that run already, which the claim of `kept_by` holds: they stay, as far as `count` allows, and the
  // other pods are placed with them. Null: there are none.
  const api::kueue::TopologyAssignment* kept = nullptr;
  WorkloadId kept_by{};
};

// The places of one pod set: the content of a claim.
struct Placed {
  FlavorId flavor;
  std::vector<ResourceAmount> per_pod;
  std::vector<Place> places;  // by the level values of the domains, a smaller last slice at the end; no empty ones
  std::string unit{};         // as in PlaceAsk
};

// Why asks cannot be placed: enough to build the message when it is needed.
struct PlaceFailure {
  std::size_t ask = 0;  // which of the asks
  std::string text;     // a fixed reason (stale assignment, bad slice size, ...); empty: too little capacity
  std::int32_t fits = 0, wanted = 0;  // counted in slices if `slices`, else in pods
  bool slices = false;
  bool operator==(const PlaceFailure&) const = default;
};

struct Placement {
  bool ok = false;
  std::vector<Placed> pod_sets;  // by ask; an ask with count 0 gets no places
  PlaceFailure failure;          // when not ok
};

// A claim in the form of the API (after a restart, or as admitted).
struct StatedPlaces {
  std::string flavor;
  std::vector<ResourceAmount> per_pod;
  api::kueue::TopologyAssignmentPtr assignment;
  std::string unit{};  // as in PlaceAsk
};

class Places {
 public:
  Places(Names& names, TopologyOptions options);
  ~Places();
  // A copy that uses `names`, which must be a copy of the other's names. `with_nodes` false: without nodes, pods and
  // claims. No trial may be open.
  Places(const Places& other, Names& names, bool with_nodes);
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  // --- Cluster state. Each method returns whether anything changed that matters for placement.
  bool set_node(const api::Node& node);
  bool remove_node(std::string_view name);
  bool set_topology(const api::kueue::Topology& topology);
  bool remove_topology(std::string_view name);
  bool set_flavor(FlavorId id, const api::kueue::ResourceFlavor& flavor);
  bool remove_flavor(FlavorId id);
  // A pod that occupies a node (PodPlacement::holds_node). Call remove_pod() when it is gone or has terminated.
  bool set_pod(const api::kueue::PodPlacement& pod);
  bool remove_pod(std::string_view uid);
  // All that a node has of devices, by names that begin with api::kueue::kDevice or kDevicePart: as if they were part
  // of its allocatable resources. The node may come later; it keeps them when it comes back.
  bool set_devices(std::string_view node, const api::ResourceList& devices);
  // What the devices that are allocated to a claim take of a node: like a pod with the UID of the claim that requests
  // only these. Without requests: nothing any more.
  bool set_taken_devices(const api::kueue::PodPlacement& claim);

  // --- Claims. `holder` is "namespace/name" of the workload, as its pods name it. `labels` are those of the workload;
  // null: it does not count where workloads are spread.
  using Labels = std::shared_ptr<const api::StringMap>;
  void take(WorkloadId workload, std::string_view holder, std::vector<Placed> placed, Labels labels = nullptr);
  void take_stated(WorkloadId workload, std::string_view holder, const std::vector<StatedPlaces>& stated,
                   Labels labels = nullptr);
  void give_back(WorkloadId workload);
  void give_back_with_pods(WorkloadId workload);  // as if its pods had ended too; costs a walk over all pods
  bool holds(WorkloadId workload) const;

  // Capacity reserved for the rest of a scheduling cycle, for workloads that wait for preemptions. It is not a claim.
  void hold(const std::vector<Placed>& placed);
  void drop_holds();

  // Flavors on whose nodes capacity got free since the last call, by claims, pods, nodes or configuration; sorted by
  // name. Trials and holds do not count. Where workloads are spread, every change of a claim counts for every flavor.
  std::vector<FlavorId> take_reliefs();

  // --- Questions.
  bool places_pods(FlavorId flavor) const;  // the flavor names a topology
  // Why a pod set with this request can never use the flavor, whatever is free; "" when it can:
  //   explicit request and a flavor without topology:  Flavor "f" does not support TopologyAwareScheduling
  //   the topology does not exist (yet):               Flavor "f" information missing in TAS cache
  //   a level it does not have:                        Flavor "f" does not contain the requested level
  // Also malformed requests: layers of slices that do not divide the count, a slice level above the requested one,
  // layers out of order, and what a gate forbids (TopologyOptions).
  std::string mismatch(FlavorId flavor, const api::kueue::TopologyRequest* request, std::int32_t count) const;

  // Finds places for the asks in the present state. `on_empty`: as if workloads with places used nothing; other pods
  // still count.
  Placement place(std::span<const PlaceRequest> requests, bool on_empty = false);
  // "topology "t" allows to fit only 8 out of 9 pod(s). Total nodes: 12; excluded: resource "cpu": 8".
  std::string explain(std::span<const PlaceRequest> requests, const PlaceFailure& failure);

  // Finds new places for the holder's pods that were on `failed` nodes; the other pods keep theirs. Required domains
  // and slices stay whole. `current` is by ask; an ask without an assignment is ignored. On success `pod_sets` has
  // the complete places of every ask whose assignment changed, and no places for the others. On failure
  // `failure.text` is always set.
  Placement replace(std::span<const PlaceRequest> requests, std::span<const api::kueue::TopologyAssignmentPtr> current,
                    std::span<const std::string> failed);

  api::kueue::TopologyAssignmentPtr assignment(const Placed& placed) const;

  // A scope of tentative changes: claims are given back, and the pods of their holders are gone. Trials nest; while
  // one is open, claims, holds and configuration must not change.
  class Trial {
   public:
    explicit Trial(Places& places);
    ~Trial();
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    void without(WorkloadId workload);  // no effect when it has no claim or is out already
    void again(WorkloadId workload);
    void without_holds();
    // As if all pods were gone whose workload has no claim any more: they are leaving. Except pods whose waiting time
    // has ended: five minutes after the first workload began to wait for them and after their grace periods. Returns
    // when the first waiting time of the others ends; nullopt when there are no others. `only_looks`: does not start
    // a waiting time.
    std::optional<Time> without_leaving_pods(Time now, bool only_looks);

   private:
    Places& places_;
    std::size_t mark_;
  };

  // Broken invariants as sentences: usage against a recomputation from claims and pods, cached counts against a
  // recount, a leaf domain whose claims alone exceeded the node's capacity when they were taken. For tests: costs a
  // full recomputation.
  std::vector<std::string> check() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::engine
