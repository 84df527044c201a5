// What the engine knows about everything but workloads, nodes and pods: queues, flavors, topologies, checks, namespaces
// and their limits, as seen last. Names of the world may be missing at any time; every question has an answer for that.
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
  std::map<std::string, JsonObject, std::less<>> namespaces;  // labels
  std::map<std::string, std::map<std::string, std::vector<api::LimitRangeItem>>, std::less<>> limit_ranges;
  std::map<std::string, JsonPtr, std::less<>> runtime_classes;  // overhead, may be null

  const api::kueue::ClusterQueue* cluster_queue(std::string_view name) const;  // nullptr: none
  const api::kueue::LocalQueue* local_queue(std::string_view key) const;

  void set_local_queue(std::shared_ptr<const api::kueue::LocalQueue> queue);
  void remove_local_queue(std::string_view key);
  const std::set<std::string>& local_queues_of(std::string_view cluster_queue) const;  // keys; the cluster queue may be missing

  // Computes the activity and the delayed flavors of cluster queues anew: of these, gone ones among them, or of all when flavors,
  // topologies or checks changed; returns the names of those where either changed. Everything below that speaks of these speaks of
  // the last refresh.
  std::vector<std::string> refresh(const std::set<std::string>& queues);
  std::vector<std::string> refresh_all();

  // Whether a queue may admit. The first of these that holds gives the reason: terminating, stopped, a
  // missing flavor, a missing check, an inactive check, a missing topology; the message names all that hold.
  const Activity& activity(const api::kueue::ClusterQueue& queue) const;
  Activity activity(const api::kueue::LocalQueue& queue) const;

  lifecycle::QueueView view_of_cluster_queue(std::string_view name) const;
  lifecycle::QueueView view_of_local_queue(std::string_view key) const;

  // The admission checks that an admission requires, by name: rules without flavors, and those that name an
  // assigned one.
  std::vector<std::string> required_checks(const api::kueue::Admission& admission) const;

  // The flavors of a queue whose nodes a check makes first (ProvisioningRequests), by name: places on them are given by the second
  // pass, when that check is Ready.
  const std::vector<std::string>& delayed_flavors(const api::kueue::ClusterQueue& queue) const;

  // The flavor of a pod set in whose nodes its pods have places. While flavors are missing, the one that may be it.
  std::string placed_flavor(const api::kueue::PodSetAssignment& pod_set) const;

  bool flavor_in_use(std::string_view flavor) const;      // some cluster queue names it; a cohort does not keep it
  bool check_in_use(std::string_view check) const;        // some cluster queue names it
  bool topology_in_use(std::string_view topology) const;  // some flavor names it
  std::vector<std::string> queues_with_flavor(std::string_view flavor) const;  // cluster queues, by name

  std::vector<api::LimitRangeItem> limits_of(std::string_view ns) const;

 private:
  struct Derived {
    Activity activity;
    std::vector<std::string> delayed_flavors;
    bool operator==(const Derived&) const = default;
  };
  bool refresh_one(const std::string& name);  // true: it changed
  std::map<std::string, Derived, std::less<>> derived_;  // by cluster queue
  std::map<std::string, std::set<std::string>, std::less<>> local_queues_of_;
};

}  // namespace berth::engine
