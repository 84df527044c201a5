// Statuses of Kueue's queues and the finalizer of what is in use: brings the objects to what the engine says.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "controller/work_queue.h"
#include "controller/writes.h"
#include "engine/engine.h"
#include "kube/informer.h"
#include "kube/rate_limit.h"

namespace berth::controller {

class ObjectUpkeep {
 public:
  struct Context {
    Executor& executor;
    Writes& writes;
    const kube::Informer &cluster_queues, &local_queues, &cohorts, &flavors, &topologies, &checks;
    std::function<const engine::Engine&()> engine;
    std::function<bool()> leading;  // before that, statuses are not written
    Duration status_delay;          // changes of a queue's status are collected this long
    kube::RateLimit& status_rate;   // of all queues' statuses together
  };
  explicit ObjectUpkeep(Context context);
  ~ObjectUpkeep() { *alive_ = false; }

  // The queue, or what the engine knows of it, changed.
  void cluster_queue_changed(const std::string& name) { cluster_queues_.add(name); }
  void local_queue_changed(const std::string& key) { local_queues_.add(key); }
  void cohort_changed(const std::string& name) { cohorts_.add(name); }  // with fair sharing: others have no status
  // Whether it carries the finalizer may have changed: an object of one of SetFinalizer's kinds.
  void object_changed(const std::string& kind, const std::string& name, bool gone);
  void take(const engine::SetFinalizer& effect);

 private:
  struct Wanted {
    Target target;
    std::string subresource;
    Json body;
  };
  using Wish = std::function<std::optional<Wanted>(const std::string& key)>;

  WorkQueue::Work writer(Wish wish);
  template <typename Status>
  std::optional<Wanted> status_write(const kube::Informer& informer, const std::string& key,
                                     const std::optional<Status>& status) const;
  std::optional<Wanted> local_queue_write(const std::string& key) const;
  std::optional<Wanted> finalizer_write(const std::string& key) const;
  const kube::Informer& informer_of(const std::string& kind) const;

  Context context_;
  std::map<std::string, bool> wanted_finalizers_;  // "kind/name" -> shall be there
  WorkQueue cluster_queues_, local_queues_, cohorts_, finalizers_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // answers under way find out that this is gone
};

}  // namespace berth::controller
