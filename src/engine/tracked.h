// The workloads the engine knows, indexed by name, by queue and by timer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/kueue/device_charge.h"
#include "api/kueue/workload_ref.h"
#include "base/rare.h"
#include "engine/effects.h"
#include "engine/lifecycle/topology.h"
#include "engine/queue/counted_order.h"
#include "engine/queue_totals.h"
#include "engine/quota/ids.h"
#include "engine/requested_pods.h"
#include "engine/write_budget.h"

namespace berth::engine {

// A write that was requested and has not settled.
struct InFlight {
  std::uint64_t write = 0;
  bool deactivation = false;
  WriteKind kind = WriteKind::kDecision;
  api::kueue::WorkloadStatus status;
  std::vector<RecordEvent> events;  // recorded once the write is done
};

// When the next second pass is due, and its number (from 1) since the workload began to need one.
struct SecondPassTimer {
  lifecycle::SecondPassNeed need = lifecycle::SecondPassNeed::kNone;
  int iteration = 1;
  Time at{};
  std::string failure;  // the message of the last pass
};

// A workload with the status that was decided. Usually the API already holds that status: then this refers to the
// API's object and costs nothing.
class AsDecided {
 public:
  // Gives access to the members of a reference that it holds.
  struct Arrow {
    api::kueue::WorkloadRef workload;
    const api::kueue::WorkloadRef* operator->() const { return &workload; }
  };
  api::kueue::WorkloadRef operator*() const { return {*base_, status()}; }
  Arrow operator->() const { return {**this}; }
  const api::kueue::WorkloadStatus& status() const { return decided_ ? *decided_ : base_->status; }

  // Refers to the API's version again, without a decided status.
  void follow(Ptr<api::kueue::Workload> base) {
    base_ = std::move(base);
    decided_.reset();
  }
  void decide(api::kueue::WorkloadStatus status) { decided_ = Rare<api::kueue::WorkloadStatus>(std::move(status)); }
  // True when a decided status differs from what the API holds.
  bool differs() const { return decided_ && *decided_ != base_->status; }

 private:
  Ptr<api::kueue::Workload> base_;
  Rare<api::kueue::WorkloadStatus> decided_;
};

struct Tracked {
  std::string key;  // "namespace/name"
  WorkloadId id;    // in the scheduler

  Ptr<api::kueue::Workload> base;        // the newest version that the API is known to have
  AsDecided now;                         // the same with the decided status
  bool deactivate = false;               // spec.active=false must be written
  std::vector<RecordEvent> events;       // belong to the difference between `base` and `now`
  std::optional<Time> unreported_since;  // since when a message about it waits to be written
  // The local queue in whose line it waits to be told; null: it does not. Owned by Messages.
  const std::string* unreported_line = nullptr;
  Rare<lifecycle::PendingReason> unreported_reason;  // why it waits, not yet part of `now`; empty: nothing new
  // The status no longer says what the scheduler reported about it: the scheduler must report again.
  bool report_again = false;

  Rare<InFlight> in_flight;
  Ptr<api::kueue::Workload> newer;  // seen while a write was in flight
  // Make no move until this version (`await_newer`: a version newer than it) is seen, but wait at most until
  // `await_until`.
  std::string await_version;
  bool await_newer = false;
  std::optional<Time> await_until;
  int failures = 0;              // consecutive failed writes
  std::optional<Time> retry_at;  // no write before this time

  Rare<api::kueue::JobReport> report;
  // the first resourceVersion with Evicted=True while it holds quota; empty: not evicting
  std::string evicting_since;
  // The latest reports about its checks while it holds quota. Kept so that they reach the status however often a
  // write fails.
  lifecycle::CheckReports check_reports;
  Rare<lifecycle::ClusterReport> clusters;  // with the report about MultiKueue's check; empty: there is none

  Rare<SecondPassTimer> second_pass;
  // The flavors of its places as they were when it got them, by name: its pods keep their tolerations. Empty: it has no
  // places. After a restart, as they are now.
  Rare<std::map<std::string, Ptr<api::kueue::ResourceFlavor>>> flavors_then;
  std::optional<Time> node_deadline;  // when the next node with its pods will count as failed

  Ptr<api::kueue::DeviceCharge> devices;  // as it was seen last; null: none is counted
  Ptr<RequestedPods> requests;            // of `requests_generation`; shared by workloads that request the same
  std::int64_t requests_generation = 0;

  // Why it is not admitted, as the counts by queue have it; null: it is not counted. Owned by QueueTotals.
  const QueueCensus::Why* why = nullptr;

  Ptr<RequestedPods> waits_for;  // as the sums of waiting workloads have it; null: it does not wait
  Rare<HeldAmounts> held;        // as the sums by queue have it; null: it holds nothing

  Rare<std::string> replaces;  // "namespace/name" of the slice that it replaces (Slices); empty: it names none
  bool replaced = false;       // another slice holds its quota now: it holds nothing

  std::string local_queue;    // "namespace/name"
  std::string cluster_queue;  // of the admission, else of the local queue; empty: unknown
  std::optional<Time> timer;
  bool marked = false;  // must be looked at
  // Its positions in the lists of its queues.
  std::size_t in_local_queue = 0, in_cluster_queue = 0;
};

class TrackedWorkloads {
 public:
  struct ByKey {
    bool operator()(const Tracked* a, const Tracked* b) const { return a->key < b->key; }
  };
  using Set = std::set<Tracked*, ByKey>;

  TrackedWorkloads() = default;
  TrackedWorkloads(const TrackedWorkloads& other);  // deep; ids stay the same
  TrackedWorkloads& operator=(const TrackedWorkloads&) = delete;
  // This set's workloads with the ids of those in `theirs`, which is a set of the workloads that were copied.
  Set same(const Set& theirs) const;

  Tracked* find(std::string_view key);
  Tracked* find(WorkloadId id);
  const Tracked* find(std::string_view key) const;
  const Tracked* find(WorkloadId id) const;
  Tracked& insert(std::string key, WorkloadId id);
  void erase(Tracked& tracked);

  // Indexes it under these queues.
  void file(Tracked& tracked, std::string local_queue, std::string cluster_queue);
  template <typename Visit>
  void for_each_in_cluster_queue(std::string_view name, Visit visit) const {  // in no particular order
    for (const WorkloadId id : listed(by_cluster_queue_, name)) visit(std::as_const(*by_id_[id.index()]));
  }

  // What they count as and hold, by queue. Changes of the queues of a workload take its part along.
  QueueTotals& totals() { return totals_; }
  const QueueTotals& totals() const { return totals_; }

  void set_timer(Tracked& tracked, std::optional<Time> when);
  std::optional<Time> earliest() const;
  std::vector<Tracked*> due(Time now) const;

  // Marks a workload to be looked at by the next schedule().
  void mark(Tracked& tracked) {
    if (!std::exchange(tracked.marked, true)) marked_.push_back(tracked.id);
  }
  void mark_local_queue(std::string_view key);
  void mark_cluster_queue(std::string_view name);
  std::vector<Tracked*> take_marked();  // by key
  bool any_marked() const { return !marked_.empty(); }

  // Gives every workload a new id, and marks all.
  void renumber(const std::function<WorkloadId(const Tracked&)>& id_of);

  template <typename Visit>
  void for_each_in_any_order(Visit visit) const {  // the fastest way, by id
    for (const auto& each : by_id_) {
      if (each != nullptr) visit(std::as_const(*each));
    }
  }
  template <typename Visit>
  void for_each(Visit visit) const {  // by key
    all_.visit(0, [&](WorkloadId id) { return visit(*by_id_[id.index()]), true; });
  }

 private:
  using ById = std::vector<std::unique_ptr<Tracked>>;
  struct Before {
    const ById* by_id;
    bool operator()(WorkloadId a, WorkloadId b) const { return (*by_id)[a.index()]->key < (*by_id)[b.index()]->key; }
  };
  using List = std::vector<WorkloadId>;
  using Index = std::map<std::string, List, std::less<>>;
  static const List& listed(const Index& index, std::string_view name);
  void unfile(Index& index, std::size_t Tracked::* position, const std::string& name, Tracked& tracked);
  void refile(Index& index, std::size_t Tracked::* position, std::string& name, std::string other, Tracked& tracked);
  static void append(Index& index, std::size_t Tracked::* position, const std::string& name, Tracked& tracked);

  ById by_id_;
  CountedOrder<WorkloadId, Before> all_{Before{&by_id_}};  // by key
  Index by_local_queue_, by_cluster_queue_;
  QueueTotals totals_;
  std::map<Time, Set> timers_;
  std::vector<WorkloadId> marked_;  // some may be gone meanwhile
};

}  // namespace berth::engine
