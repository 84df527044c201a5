// A cluster autoscaler for ProvisioningRequests of two classes:
//   check-capacity.autoscaling.x-k8s.io              is there enough free capacity for these pods now?
//   best-effort-atomic-scale-up.autoscaling.x-k8s.io  create the missing nodes, all or none
// https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/proposals/provisioning-request.md
//
// Capacity that is booked for a request is kept for its pods until they are bound or the booking expires. New nodes
// come from make_node() and are in a block of their own. For delays and failures on demand see provisioning_terms.h.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/autoscaling/provisioning_request.h"
#include "api/core/pod_resources.h"
#include "api/core/scheduling.h"
#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "embedded/cluster/free_capacity.h"
#include "embedded/cluster/provisioning_terms.h"
#include "embedded/cluster/shared/pod_writes.h"
#include "kube/informer.h"

namespace berth::cluster {

// The new nodes: racks 1 to `racks` of one block, with `nodes_per_rack` nodes each.
struct NodeGroup {
  int block = 1, racks = 0, nodes_per_rack = 0;  // racks 0: no node is ever created
  api::ResourceList resources;
  Duration delay = std::chrono::seconds(30);  // until new nodes exist
};

class Autoscaler {
 public:
  // All must outlive this object. `capacity` must get each change before the autoscaler does.
  Autoscaler(api::RestClient& client, Executor& executor, const FreeCapacity& capacity);
  ~Autoscaler();

  void start(NodeGroup group);
  void node_changed(const JsonPtr& old, const JsonPtr& now);
  void pod_changed(const JsonPtr& old, const JsonPtr& now);

 private:
  using Request = api::autoscaling::ProvisioningRequest;
  // A number of equal pods.
  struct Demand {
    api::ResourceList requests;
    api::NodeConstraints constraints;
    std::int64_t count = 0;
  };
  struct Plan {
    std::int64_t wanted = 0, missing = 0;  // pods; missing: pods that fit on no node
    std::vector<Json> nodes;               // to create
    std::int64_t could_grow = 0;           // nodes that the group can still create
  };

  void request_changed(const JsonPtr& old, const JsonPtr& now);
  void look_at(const std::string& key);
  void accept(const Request& request, const ProvisioningTerms& terms);
  void attempt(const std::string& key, const Request& request, const ProvisioningTerms& terms, Time due);
  void keep_booking(const std::string& key, const Request& request, const ProvisioningTerms& terms);
  std::optional<std::vector<Demand>> demand_of(
      const Request& request) const;  // none: a pod template does not exist (yet)
  Plan plan(const std::string& key, const std::vector<Demand>& demand, bool may_grow) const;
  FreeCapacity capacity_without_bookings(const std::string& except) const;
  void make(const std::string& key, std::vector<Json> nodes);
  void create(const Json& node);
  void answer(const Request& request, std::string_view type, bool status, std::string_view reason, std::string message);
  void write(const Request& request, api::Conditions conditions);
  void at(const std::string& key, Time when);
  Duration delay_of(const Request& request, const ProvisioningTerms& terms) const;

  Executor& executor_;
  const FreeCapacity& capacity_;
  kube::Informer requests_, templates_;
  NodeGroup group_;
  std::map<std::string, TimerId> timers_;                 // by request key: time of the next look
  std::map<std::string, std::vector<Demand>> bookings_;   // by request key: the pods for which capacity is kept
  std::map<std::string, std::set<std::string>> arrived_;  // by request key: UIDs of its pods that are bound
  std::set<std::string, std::less<>> making_;             // nodes that are being created and are not usable yet
  std::string making_for_;                                // the request for which they are created
  Writer writer_;
};

}  // namespace berth::cluster
