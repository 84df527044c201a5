// PodGroups as workloads that no API server holds: feeds them to the engine, keeps the engine's decisions about them,
// and writes the results: the phase of the group, its condition Unschedulable, the gates of pods above its minimum,
// and the deletion of pods that must stop.
//
// A decision is settled at once, in memory; writes follow until the objects match it. Decisions that were lost with
// the process are made again from phases and pods.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/lifetime.h"
#include "controller/group_pods.h"
#include "controller/plan_runner.h"
#include "controller/shell.h"
#include "controller/work_queue.h"
#include "kube/informer.h"
#include "volcano/group_workloads.h"

namespace berth::controller {

class VolcanoGroups {
 public:
  // `queue_changed`: PodGroups of this queue were added, deleted or changed their phase. The others must outlive it.
  VolcanoGroups(Shell& shell, const volcano::QuotaTree& tree, const kube::Informer& priority_classes,
                std::function<void(const std::string& queue)> queue_changed);

  // The caches have something new. Nothing is written before start().
  void group_changed(const JsonPtr& old, const JsonPtr& now);
  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  void priorities_changed();
  void queue_changed(const std::string& queue);  // the queue starts or stops taking work
  void start();
  bool any() const { return !entries_.empty(); }

  // Handles an effect of the engine. False: the effect is about something else.
  bool take(const engine::WriteWorkloadStatus& effect);
  bool take(const engine::DeactivateWorkload& effect);
  bool take(const engine::RecordEvent& effect);

  // A workload as the engine knows it; null: the engine does not know it.
  using Reported = std::shared_ptr<const api::kueue::Workload>;

  // The number of PodGroups that name this queue itself: in total, and by phase.
  using ByPhase = std::array<std::int32_t, 6>;  // index: api::volcano::PodGroupPhase
  std::size_t in(std::string_view queue) const;
  ByPhase by_phase(std::string_view queue) const;

 private:
  using GroupPtr = std::shared_ptr<const api::volcano::PodGroup>;
  struct Entry {
    GroupPtr group;
    // The resourceVersion of our last write. Until the cache has it, `group` is out of date.
    std::string written;
    Reported minimum, growth;
    std::vector<Reported> surplus;                   // its parts; null: one without pods
    Reported* part(const volcano::GroupRef& which);  // null: there is no such part
  };
  struct InQueue {
    std::set<std::string> groups;
    ByPhase by_phase{};
  };

  bool is_fresh(const Entry& entry) const;
  volcano::GroupContext context_of(const std::string& key, const Entry& entry) const;
  void see(const std::string& key);
  void see_surplus(const std::string& key, Entry& entry);
  void report(Reported& reported, std::optional<api::kueue::Workload> now);
  void forget(const std::string& key);
  void count(const api::volcano::PodGroup& group, const std::string& key, int by);
  Reported* reported_of(std::string_view workload);  // null: the group is unknown
  // Whether the engine has been told nothing newer about this workload.
  bool is_reported(const Reported& workload);
  bool change(const api::kueue::Workload& base, std::uint64_t write,
              const std::function<void(api::kueue::Workload&)>& how);

  void look(const std::string& key, WorkQueue::Finish finish);
  // Why nobody lets the group in, besides its quota; empty: nothing.
  std::string obstacle(const std::string& key, const Entry& entry) const;
  api::volcano::PodGroupStatus wanted(const std::string& key, const Entry& entry, const volcano::GroupDuty& duty) const;
  void write(const std::string& key, const api::volcano::PodGroupStatus& status, const volcano::GroupDuty& duty,
             WorkQueue::Finish finish);
  void stop_pods(const std::string& key, const volcano::GroupDuty& duty, WorkQueue::Finish finish);
  void report(const std::string& key, bool stopped);
  std::vector<api::ObjectMeta> pods_to_stop(const std::string& key, const Entry& entry) const;
  bool next_may_go(const std::string& key) const;
  void let_go(const std::string& key, WorkQueue::Finish finish);
  void record(const api::volcano::PodGroup& group, kube::EventText text);

  Shell& shell_;
  const volcano::QuotaTree& tree_;
  const kube::Informer& priority_classes_;
  const std::function<void(const std::string& queue)> queue_changed_;
  bool started_ = false;
  std::int64_t version_ = 0;  // resourceVersions of the workloads, which no server counts
  GroupPods pods_;
  std::map<std::string, Entry, std::less<>> entries_;  // by "namespace/name"
  std::map<std::string, InQueue, std::less<>> in_queue_;
  WorkQueue queue_;
  PlanRunner runner_;
  Lifetime lifetime_;
};

}  // namespace berth::controller
