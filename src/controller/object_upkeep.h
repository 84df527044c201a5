// Writes the statuses of Kueue's queues, and the finalizer of objects in use, as the engine wants them.
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
    std::function<bool()> leading;  // while false, statuses are not written
    Duration status_delay;          // how long changes of a queue's status are collected
    kube::RateLimit& status_rate;   // for the statuses of all queues together
  };
  explicit ObjectUpkeep(Context context);
  ~ObjectUpkeep() { *alive_ = false; }

  // The queue changed, or its state in the engine.
  void cluster_queue_changed(const std::string& name) { cluster_queues_.add(name); }
  void local_queue_changed(const std::string& key) { local_queues_.add(key); }
  // Call with fair sharing only: otherwise a cohort has no status.
  void cohort_changed(const std::string& name) { cohorts_.add(name); }
  // The finalizer may have to be added or removed. `kind`: one of the kinds of SetFinalizer.
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
  std::map<std::string, bool> wanted_finalizers_;  // "kind/name" -> whether it must be present
  WorkQueue cluster_queues_, local_queues_, cohorts_, finalizers_;
  // false when this is destroyed: pending answers check it
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace berth::controller
