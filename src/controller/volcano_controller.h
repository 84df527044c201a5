// Volcano's queues, PodGroups and Commands beside Kueue's objects: their caches, the quota tree that the engine is told of, and who
// writes what follows (volcano_queues, volcano_groups).
//
// A cluster that does not serve them has none: that is said once, the caches go on asking ever more slowly, and nothing waits for
// them.
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
#include "controller/unreadable.h"
#include "controller/volcano_groups.h"
#include "controller/volcano_queues.h"
#include "engine/engine.h"
#include "kube/informer.h"
#include "volcano/admission_rules.h"
#include "volcano/quota_tree.h"

namespace berth::controller {

class VolcanoController {
 public:
  struct Context {
    api::RestClient& client;
    Executor& executor;
    Writes& writes;
    kube::EventRecorder& events;
    UnreadableObjects& unreadable;
    std::function<kube::InformerOptions()> informer_options;
    std::function<void(const engine::Event&)> feed;
    std::function<const engine::Engine&()> engine;
    std::function<std::int32_t(std::string_view priority_class)> priority;  // 0 for one that does not exist
    std::function<void()> settled;  // settled() may be true now
    kube::RateLimit& status_rate;   // of all queues' statuses together
    volcano::TreeOptions tree;
    volcano::AdmissionOptions admission;
  };
  explicit VolcanoController(Context context);

  void read();  // fills its own caches
  // Queues and PodGroups were read, and since the last read_anew() once more; or the cluster does not serve them.
  bool settled() const { return waiting_for_.empty(); }
  std::vector<std::string> missing() const { return {waiting_for_.begin(), waiting_for_.end()}; }  // until then, by name
  void read_anew();  // what the last leader wrote
  void start();      // writing may begin
  bool counts_pods() const { return groups_.any(); }

  void pod_changed(const JsonPtr& old, const JsonPtr& now) { groups_.pod_changed(old, now); }
  void priorities_changed() { groups_.priorities_changed(); }
  // What the engine is to be told of a ResourceFlavor: where there is none of the name that this tree counts in, another stands in.
  engine::Event flavor_event(engine::Event seen_or_gone);

  // What the caches have; null when they do not know the object, or do not hold the resource.
  JsonPtr find(const api::GroupVersionResource& resource, const std::string& key) const;

  // Sees to effects that are about Volcano's objects or what stands for them in the engine; false: it is about something else.
  bool take(const engine::Effect& effect);

  // Rules at the doors of admission: by the queues as they were seen, and by the engine's ledger. Before the queues were read, and
  // where they cannot be, nothing is judged.
  api::kueue::AdmissionRules rules(std::string_view group, std::string_view resource) const;
  // Workloads that hold quota in the queue itself, by the ledger.
  std::size_t holders_in(std::string_view queue) const;

 private:
  void connect(kube::Informer& informer, const std::string& what);
  void queue_seen(const JsonPtr& old, const JsonPtr& now);
  void plant();  // the tree, before its first queue
  void feed(const volcano::QuotaTree::Events& events);
  void arrived(const std::string& what);
  void look_below(const std::string& queue);

  Context context_;
  bool planted_ = false, reading_ = false, started_ = false;
  bool has_flavor_ = false;               // a ResourceFlavor of the tree's name exists
  std::optional<engine::Event> stand_in_;  // for that flavor
  std::set<std::string> waiting_for_;  // caches that are not read yet
  std::map<std::string, int> told_;    // by cache: the code of the answer that was logged last
  kube::Informer queue_objects_, group_objects_, commands_;
  volcano::QuotaTree tree_;
  std::shared_ptr<const volcano::Admission> admission_;
  VolcanoGroups groups_;
  VolcanoQueues queues_;
};

// Whether the name of a ClusterQueue or Cohort of Kueue's is kept for Volcano's queues (docs/adr/0013).
bool is_reserved_name(std::string_view name);

}  // namespace berth::controller
