// Volcano's Queues, PodGroups and Commands: their caches, the quota tree that the engine gets, and the parts that
// write the results (volcano_queues, volcano_groups).
//
// When a cluster does not serve these kinds, this is logged once, the caches keep trying with a growing delay, and
// nothing waits for them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "controller/shell.h"
#include "controller/volcano_groups.h"
#include "controller/volcano_queues.h"
#include "engine/engine.h"
#include "kube/informer.h"
#include "volcano/admission_rules.h"
#include "volcano/quota_tree.h"

namespace berth::controller {

class VolcanoController {
 public:
  // `settled` is called when settled() may have become true. Shell and classes must outlive it.
  VolcanoController(Shell& shell, const kube::Informer& priority_classes, std::function<void()> settled);

  void read();  // starts its own caches
  // Queues and PodGroups have been read, PodGroups also once more since the last read_anew(); or the cluster does not
  // serve them or does not allow reading them.
  bool settled() const { return waiting_for_.empty(); }
  // The names of the resources that settled() waits for.
  std::vector<std::string> missing() const { return {waiting_for_.begin(), waiting_for_.end()}; }
  void read_anew();  // reads PodGroups again, for the last writes of the previous leader
  void start();      // writing may begin
  bool counts_pods() const { return groups_.any(); }

  void pod_changed(const JsonPtr& old, const JsonPtr& now) { groups_.pod_changed(old, now); }
  void priorities_changed() { groups_.priorities_changed(); }
  // The event of a ResourceFlavor as the engine gets it. When the cluster has no ResourceFlavor with the name that
  // the tree uses, the engine keeps a stand-in.
  engine::Event flavor_event(engine::Event seen_or_gone);

  // The cached object; null when the cache does not have it, or when no cache holds the resource. `key`:
  // "namespace/name", or "name" for a Queue.
  JsonPtr find(const api::GroupVersionResource& resource, const std::string& key) const;

  // Handles effects on Volcano's objects and on the engine's objects that stand for them. False: the effect is about
  // something else.
  bool take(const engine::Effect& effect);

  // Admission rules, based on the cached queues and the engine's ledger. The functions are empty, and nothing is
  // refused, while queues have not been read or cannot be read.
  api::kueue::AdmissionRules rules(std::string_view group, std::string_view resource) const;
  // The number of workloads that hold quota in the queue itself, from the ledger.
  std::size_t holders_in(std::string_view queue) const;

 private:
  void connect(kube::Informer& informer, const std::string& what);
  void queue_seen(const JsonPtr& old, const JsonPtr& now);
  void plant();  // feeds the root and the flavor, before the first queue
  void feed(const volcano::QuotaTree::Events& events);
  void arrived(const std::string& what);
  void look_below(const std::string& queue);

  Shell& shell_;
  const std::function<void()> settled_;
  bool planted_ = false, reading_ = false, started_ = false;
  bool has_flavor_ = false;                // a ResourceFlavor of the tree's name exists
  std::optional<engine::Event> stand_in_;  // the engine gets it while no such flavor exists
  std::set<std::string> waiting_for_;      // resources that settled() waits for
  std::map<std::string, int> reported_;    // by resource: the HTTP code of the last logged list answer
  kube::Informer queue_objects_, group_objects_, commands_;
  volcano::QuotaTree tree_;
  std::shared_ptr<const volcano::Admission> admission_;
  VolcanoGroups groups_;
  VolcanoQueues queues_;
};

// Whether the name of a Kueue ClusterQueue or Cohort is reserved for Volcano's queues (docs/adr/0013).
bool is_reserved_name(std::string_view name);

}  // namespace berth::controller
