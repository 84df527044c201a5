// Writes the statuses of Kueue's queues, and the finalizer of objects in use, as the engine wants them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/lifetime.h"
#include "controller/cluster.h"
#include "controller/shell.h"
#include "controller/work_queue.h"
#include "kube/informer.h"

namespace berth::controller {

class ObjectUpkeep {
 public:
  // Both must outlive it.
  ObjectUpkeep(Shell& shell, const Cluster& cluster);

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
  // The metadata of an object of one of the kinds of SetFinalizer; null when there is none.
  const api::ObjectMeta* meta_of(const std::string& kind, std::string_view name) const;

  Shell& shell_;
  const Cluster& cluster_;
  std::map<std::string, bool> wanted_finalizers_;  // "kind/name" -> whether it must be present
  WorkQueue cluster_queues_, local_queues_, cohorts_, finalizers_;
  Lifetime lifetime_;
};

}  // namespace berth::controller
