// A cluster autoscaler for ProvisioningRequests of two classes:
//   check-capacity.autoscaling.x-k8s.io              is there room for these pods now?
//   best-effort-atomic-scale-up.autoscaling.x-k8s.io  make the nodes that are missing, all or none
// https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/proposals/provisioning-request.md
//
// Room that was promised to a request is kept for its pods until they are bound or the booking expires. New
// nodes are those of make_node() in a block of their own. What it shall do otherwise on demand: see
// provisioning_terms.h.
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
#include "cluster/pod_writes.h"
#include "cluster/provisioning_terms.h"
#include "cluster/room.h"
#include "kube/informer.h"

namespace berth::cluster {

// Where and what the new nodes are: racks 1 to `racks` of a block, so many nodes each.
struct NodeGroup {
  int block = 1, racks = 0, nodes_per_rack = 0;  // racks 0: no node is ever made
  api::ResourceList resources;
  Duration delay = std::chrono::seconds(30);  // until new nodes are there
};

class Autoscaler {
 public:
  // All must outlive this; `room` is told of changes before the autoscaler is.
  Autoscaler(api::RestClient& client, Executor& executor, const Room& room);
  ~Autoscaler();

  void start(NodeGroup group);
  void node_changed(const JsonPtr& old, const JsonPtr& now);
  void pod_changed(const JsonPtr& old, const JsonPtr& now);

 private:
  using Request = api::autoscaling::ProvisioningRequest;
  // Pods that are alike.
  struct Demand {
    api::ResourceList requests;
    api::NodeConstraints constraints;
    std::int64_t count = 0;
  };
  struct Plan {
    std::int64_t wanted = 0, missing = 0;  // pods; missing: those without a place
    std::vector<Json> nodes;               // to make
    std::int64_t could_grow = 0;           // nodes that the group has left
  };

  void request_changed(const JsonPtr& old, const JsonPtr& now);
  void look_at(const std::string& key);
  void accept(const Request& request, const ProvisioningTerms& terms);
  void attempt(const std::string& key, const Request& request, const ProvisioningTerms& terms, Time due);
  void keep_booking(const std::string& key, const Request& request, const ProvisioningTerms& terms);
  std::optional<std::vector<Demand>> demand_of(
      const Request& request) const;  // none: a template is not known (yet)
  Plan plan(const std::string& key, const std::vector<Demand>& demand, bool may_grow) const;
  Room room_without_bookings(const std::string& except) const;
  void make(const std::string& key, std::vector<Json> nodes);
  void create(const Json& node);
  void answer(const Request& request, std::string_view type, bool status, std::string_view reason,
              std::string message);
  void write(const Request& request, api::Conditions conditions);
  void at(const std::string& key, Time when);
  Duration delay_of(const Request& request, const ProvisioningTerms& terms) const;

  Executor& executor_;
  const Room& room_;
  kube::Informer requests_, templates_;
  NodeGroup group_;
  std::map<std::string, TimerId> timers_;                 // by request key: when to look at it next
  std::map<std::string, std::vector<Demand>> bookings_;   // by request key: the pods that room is kept for
  std::map<std::string, std::set<std::string>> arrived_;  // by request key: uids of its pods that were bound
  std::set<std::string, std::less<>> making_;             // nodes that were asked for and are not usable yet
  std::string making_for_;                                // the request that they are for
  Writer writer_;
};

}  // namespace berth::cluster
