// The last seen version of all objects except workloads, nodes and pods: queues, flavors, topologies, admission
// checks, namespaces and LimitRanges. Any referenced object may be missing; every method has an answer for that.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/kueue/types.h"
#include "base/json.h"
#include "engine/lifecycle/next.h"

namespace berth::engine {

template <typename T>
using ByName = std::map<std::string, std::shared_ptr<const T>, std::less<>>;

// The Active condition of a queue.
struct Activity {
  bool active = false;
  std::string reason, message;
  bool operator==(const Activity&) const = default;
};

struct Registries {
  ByName<api::kueue::ClusterQueue> cluster_queues;
  ByName<api::kueue::Cohort> cohorts;
  ByName<api::kueue::LocalQueue> local_queues;  // by "namespace/name"; set and removed by the functions below
  ByName<api::kueue::ResourceFlavor> flavors;
  ByName<api::kueue::Topology> topologies;
  ByName<api::kueue::AdmissionCheck> checks;
  std::map<std::string, JsonObject, std::less<>> namespaces;  // labels by namespace
  std::map<std::string, std::map<std::string, std::vector<api::LimitRangeItem>>, std::less<>> limit_ranges;
  std::map<std::string, JsonPtr, std::less<>> runtime_classes;  // overhead.podFixed by name; may be null

  const api::kueue::ClusterQueue* cluster_queue(std::string_view name) const;  // nullptr: none
  const api::kueue::LocalQueue* local_queue(std::string_view key) const;

  void set_local_queue(std::shared_ptr<const api::kueue::LocalQueue> queue);
  void remove_local_queue(std::string_view key);
  // The local queues of the namespace whose names are nearest to `name`, the nearest first: "a, b, c and more". At most
  // five, found among the first 64 by name; empty: there is none.
  std::string queues_like(std::string_view ns, std::string_view name) const;
  // keys; the cluster queue need not exist
  const std::set<std::string>& local_queues_of(std::string_view cluster_queue) const;

  // Recomputes the activity and the delayed flavors of these cluster queues (deleted ones are dropped). refresh_all()
  // does it for all; call it when flavors, topologies, checks or cohorts changed. Returns the names of the queues for
  // which either changed. activity(), delayed_flavors() and the views of cluster queues below return values as of the
  // last refresh.
  std::vector<std::string> refresh(const std::set<std::string>& queues);
  std::vector<std::string> refresh_all();

  // Whether a queue may admit; inactive with reason Unknown before its first refresh. The first of these that holds
  // gives the reason: terminating (reported alone), stopped, a missing flavor, a missing check, an inactive check, a
  // missing topology, cohorts that form a cycle; the message names all problems.
  const Activity& activity(const api::kueue::ClusterQueue& queue) const;
  Activity activity(const api::kueue::LocalQueue& queue) const;

  lifecycle::QueueView view_of_cluster_queue(std::string_view name) const;
  lifecycle::QueueView view_of_local_queue(std::string_view key) const;

  // The names of the admission checks that an admission requires, sorted: rules without onFlavors, and rules that
  // name an assigned flavor. Empty when the cluster queue is missing.
  std::vector<std::string> required_checks(const api::kueue::Admission& admission) const;

  // The queue's flavors whose nodes a ProvisioningRequest check creates first, by name. The second pass assigns
  // places on them when that check is Ready.
  const std::vector<std::string>& delayed_flavors(const api::kueue::ClusterQueue& queue) const;

  // The flavor that names a topology, on whose nodes the pods have places. While flavors are missing, the first
  // missing one.
  std::string placed_flavor(const api::kueue::PodSetAssignment& pod_set) const;

  // a cluster queue names it; a reference from a cohort does not count
  bool flavor_in_use(std::string_view flavor) const;
  bool check_in_use(std::string_view check) const;                             // a cluster queue names it
  bool topology_in_use(std::string_view topology) const;                       // a flavor names it
  std::vector<std::string> queues_with_flavor(std::string_view flavor) const;  // cluster queues, by name

  std::vector<api::LimitRangeItem> limits_of(std::string_view ns) const;

 private:
  struct Derived {
    Activity activity;
    std::vector<std::string> delayed_flavors;
    bool operator==(const Derived&) const = default;
  };
  bool refresh_one(const std::string& name);             // true: it changed; false for a cluster queue that is gone
  std::map<std::string, Derived, std::less<>> derived_;  // by cluster queue
  std::map<std::string, std::set<std::string>, std::less<>> local_queues_of_;
};

}  // namespace berth::engine
