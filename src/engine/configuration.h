// What is configured: queues, cohorts, flavors, topologies, checks, namespaces and what they say about pods. Each event
// is kept in the registries, told to the scheduler, and marks the workloads that it affects.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "engine/engine_facts.h"
#include "engine/events.h"
#include "engine/finalizers.h"
#include "engine/queue_reports.h"
#include "engine/schedule/scheduler.h"
#include "engine/tracked.h"

namespace berth::engine {

class Configuration {
 public:
  Configuration(EngineFacts& facts, Scheduler& scheduler, TrackedWorkloads& workloads, QueueReports& reports,
                Finalizers& finalizers)
      : facts_(facts), scheduler_(scheduler), workloads_(workloads), reports_(reports), finalizers_(finalizers) {}
  // A copy with copies of what the other refers to.
  Configuration(const Configuration& other, EngineFacts& facts, Scheduler& scheduler, TrackedWorkloads& workloads,
                QueueReports& reports, Finalizers& finalizers)
      : Configuration(facts, scheduler, workloads, reports, finalizers) {
    changes_ = other.changes_;
  }

  void on(const ClusterQueueSeen& e);
  void on(const ClusterQueueGone& e);
  void on(const CohortSeen& e);
  void on(const CohortGone& e);
  void on(const LocalQueueSeen& e);
  void on(const LocalQueueGone& e);
  void on(const ResourceFlavorSeen& e);
  void on(const ResourceFlavorGone& e);
  void on(const AdmissionCheckSeen& e);
  void on(const AdmissionCheckGone& e);
  void on(const TopologySeen& e);
  void on(const TopologyGone& e);
  void on(const NamespaceSeen& e);
  void on(const NamespaceGone& e);
  void on(const LimitRangeSeen& e);
  void on(const LimitRangeGone& e);
  void on(const RuntimeClassSeen& e);
  void on(const RuntimeClassGone& e);

  // The next refresh() looks at everything, as if all of it had changed.
  void reconsider_all();
  // Computes anew what follows from the changes, and tells the scheduler about changed cluster queues.
  void refresh();
  bool changed() const { return changes_.any; }
  // Whether anything changed since the last call.
  bool take_changed() { return std::exchange(changes_.any, false); }

 private:
  struct Changes {
    bool any = false;              // queues, flavors, topologies or checks
    bool rules = false;            // flavors, topologies or checks: affects all cluster queues
    std::set<std::string> queues;  // cluster queues whose object changed
  };
  void see_usage(const api::kueue::LocalQueue* known, const api::kueue::LocalQueue& seen);
  void mark_namespace(std::string_view ns, bool pods_changed);

  EngineFacts& facts_;
  Scheduler& scheduler_;
  TrackedWorkloads& workloads_;
  QueueReports& reports_;
  Finalizers& finalizers_;
  Changes changes_;
};

}  // namespace berth::engine
