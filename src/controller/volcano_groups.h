// PodGroups as workloads that no API server holds: feeds them to the engine, keeps what the engine decided about them, and writes
// what follows: the group's phase, its condition Unschedulable, the gates of pods above its minimum, and the deletion of pods that
// have to give way.
//
// The engine's decision is settled at once, in memory; the writes follow until the objects say the same. A decision that was lost
// with the process is taken anew from phases and pods.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "controller/group_pods.h"
#include "controller/unreadable.h"
#include "controller/work_queue.h"
#include "controller/writes.h"
#include "engine/engine.h"
#include "kube/event_recorder.h"
#include "volcano/group_workloads.h"

namespace berth::controller {

class VolcanoGroups {
 public:
  struct Context {
    Executor& executor;
    Writes& writes;
    kube::EventRecorder& events;
    UnreadableObjects& unreadable;
    const volcano::QuotaTree& tree;
    std::string flavor;  // TreeOptions::flavor
    std::function<void(const engine::Event&)> feed;
    std::function<std::int32_t(std::string_view priority_class)> priority;  // 0 for one that does not exist
    std::function<void(const std::string& queue)> queue_changed;            // PodGroups of this queue came, went or changed phase
  };
  explicit VolcanoGroups(Context context);
  ~VolcanoGroups() { *alive_ = false; }

  // The caches saw something new. Nothing is written before start().
  void group_changed(const JsonPtr& old, const JsonPtr& now);
  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  void priorities_changed();
  void queue_changed(const std::string& queue);  // it takes work now, or does not any more
  void start();
  bool any() const { return !entries_.empty(); }

  // Effects of the engine: false when they are about something else.
  bool take(const engine::WriteWorkloadStatus& effect);
  bool take(const engine::DeactivateWorkload& effect);
  bool take(const engine::RecordEvent& effect);

  // A workload as the engine knows it; null: it knows none.
  using Told = std::shared_ptr<const api::kueue::Workload>;

  // PodGroups that name this queue itself: all, and by phase.
  using ByPhase = std::array<std::int32_t, 6>;  // index: api::volcano::PodGroupPhase
  std::size_t in(std::string_view queue) const;
  ByPhase by_phase(std::string_view queue) const;

 private:
  using GroupPtr = std::shared_ptr<const api::volcano::PodGroup>;
  struct Entry {
    GroupPtr group;
    std::string written;  // the version that was written last: until the cache has it, the object says what was
    Told minimum, surplus, growth;
    Told& part(volcano::Part which) {
      return which == volcano::Part::kMinimum ? minimum : which == volcano::Part::kSurplus ? surplus : growth;
    }
  };
  struct InQueue {
    std::set<std::string> groups;
    ByPhase by_phase{};
  };
  struct Look {
    std::string key;
    std::size_t open = 0;
    bool failed = false;
    WorkQueue::Finish finish;
  };

  bool is_fresh(const Entry& entry) const;
  volcano::GroupContext context_of(const std::string& key, const Entry& entry) const;
  void see(const std::string& key);
  void tell(Told& told, volcano::Part part, const Entry& entry, std::optional<api::kueue::Workload> now);
  void forget(const std::string& key);
  void count(const api::volcano::PodGroup& group, const std::string& key, int by);
  Told* told_of(std::string_view workload);  // null: its group is not known
  bool is_told(const Told& workload);        // the engine was told of nothing later about it
  bool change(const api::kueue::Workload& base, std::uint64_t write, const std::function<void(api::kueue::Workload&)>& how);

  void look(const std::string& key, WorkQueue::Finish finish);
  api::volcano::PodGroupStatus wanted(const Entry& entry, const volcano::GroupDuty& duty) const;
  void write(const std::string& key, const api::volcano::PodGroupStatus& status, const volcano::GroupDuty& duty,
             WorkQueue::Finish finish);
  void stop_pods(const std::string& key, const volcano::GroupDuty& duty, WorkQueue::Finish finish);
  void report(const std::string& key, bool stopped);
  bool next_may_go(const std::string& key) const;
  void let_go(const std::string& key, WorkQueue::Finish finish);
  void record(const api::volcano::PodGroup& group, kube::EventText text);

  Context context_;
  bool started_ = false;
  std::int64_t version_ = 0;  // of the workloads: no server counts them
  GroupPods pods_;
  std::map<std::string, Entry, std::less<>> entries_;  // by "namespace/name"
  std::map<std::string, InQueue, std::less<>> in_queue_;
  WorkQueue queue_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // answers under way find out that this is gone
};

}  // namespace berth::controller
