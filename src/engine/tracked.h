// The workloads the engine knows, and where to find them: by name, by queue, by time.
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

#include "base/rare.h"
#include "engine/asks.h"
#include "engine/engine.h"
#include "engine/lifecycle/topology.h"
#include "engine/quota/ids.h"

namespace berth::engine {

// A write that was asked for and has not settled.
struct InFlight {
  std::uint64_t write = 0;
  bool deactivation = false;
  bool message = false;  // decides nothing
  api::kueue::WorkloadStatus status;
  std::vector<RecordEvent> events;  // recorded once the write is done
};

// When the next second pass is due, and which it is since the workload began to need one.
struct SecondPassTimer {
  lifecycle::SecondPassNeed need = lifecycle::SecondPassNeed::kNone;
  int iteration = 1;
  Time at{};
  std::string failure;  // what the last one said
};

// A workload with the status that it shall have. Most of the time that is the one the API holds: then it is that object, and
// costs nothing.
class AsDecided {
 public:
  const api::kueue::Workload& operator*() const { return own_ ? *own_ : *base_; }
  const api::kueue::Workload* operator->() const { return &**this; }

  // As the API has it.
  void follow(Ptr<api::kueue::Workload> base) {
    base_ = std::move(base);
    own_.reset();
  }
  void decide(api::kueue::WorkloadStatus status) {
    if (!own_) own_ = std::make_unique<api::kueue::Workload>(*base_);
    own_->status = std::move(status);
  }
  // False: nothing was decided that the API does not hold.
  bool differs() const { return own_ && own_->status != base_->status; }

 private:
  Ptr<api::kueue::Workload> base_;
  std::unique_ptr<api::kueue::Workload> own_;
};

struct Tracked {
  std::string key;  // "namespace/name"
  WorkloadId id;    // in the scheduler

  Ptr<api::kueue::Workload> base;   // the newest version that the API is known to hold
  AsDecided now;                    // the same with the status as it shall be
  bool deactivate = false;          // spec.active=false shall be written
  std::vector<RecordEvent> events;  // belong to the difference between base and now
  std::optional<Time> untold_since;  // a message about it is to be written at leisure
  std::unique_ptr<lifecycle::PendingReason> untold_reason;  // why it waits, that `now` does not say yet; null: nothing
  // What the scheduler told about it is not what its status says any more: it shall tell again.
  bool retell = false;

  std::unique_ptr<InFlight> in_flight;
  Ptr<api::kueue::Workload> newer;  // seen while a write was in flight
  // Nothing may follow before this version, or a newer one than this, has been seen; but not for ever.
  std::string await_version;
  bool await_newer = false;
  std::optional<Time> await_until;
  int failures = 0;              // of writes, one after the other
  std::optional<Time> retry_at;  // no write before

  Rare<api::kueue::JobReport> report;
  std::string evicting_since;  // the first version that says Evicted=True with quota; empty: not evicting
  // The latest reports about its checks, as long as it holds quota: what they say reaches the status however often a write fails.
  lifecycle::CheckReports check_reports;

  std::optional<SecondPassTimer> second_pass;
  std::optional<Time> node_deadline;  // when a node of its places will count as failed

  Ptr<Asks> asks;  // of this generation; shared by workloads that ask for the same
  std::int64_t asks_generation = 0;

  std::string local_queue;    // "namespace/name"
  std::string cluster_queue;  // of the admission, else of the local queue; empty: unknown
  std::optional<Time> timer;
  bool marked = false;  // to be looked at
};

class TrackedWorkloads {
 public:
  struct ByKey {
    bool operator()(const Tracked* a, const Tracked* b) const { return a->key < b->key; }
  };
  using Set = std::set<Tracked*, ByKey>;

  Tracked* find(std::string_view key);
  Tracked* find(WorkloadId id);
  const Tracked* find(std::string_view key) const;
  const Tracked* find(WorkloadId id) const;
  Tracked& insert(std::string key, WorkloadId id);
  void erase(Tracked& tracked);

  // Files it under these queues.
  void file(Tracked& tracked, std::string local_queue, std::string cluster_queue);
  const Set& in_local_queue(std::string_view key) const;
  const Set& in_cluster_queue(std::string_view name) const;

  void set_timer(Tracked& tracked, std::optional<Time> when);
  std::optional<Time> earliest() const;
  std::vector<Tracked*> due(Time now) const;

  // Those that shall be looked at.
  void mark(Tracked& tracked) {
    if (!std::exchange(tracked.marked, true)) marked_.push_back(tracked.id);
  }
  void mark_local_queue(std::string_view key);
  void mark_cluster_queue(std::string_view name);
  std::vector<Tracked*> take_marked();  // by key
  bool any_marked() const { return !marked_.empty(); }

  // Gives each another id, and marks all.
  void renumber(const std::function<WorkloadId(const Tracked&)>& id_of);

  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto& [key, tracked] : all_) visit(*tracked);
  }

 private:
  using Index = std::map<std::string, Set, std::less<>>;
  static void unfile(Index& index, const std::string& name, Tracked& tracked);
  static void refile(Index& index, std::string& name, std::string other, Tracked& tracked);

  std::map<std::string, std::unique_ptr<Tracked>, std::less<>> all_;
  std::vector<Tracked*> by_id_;
  Index by_local_queue_, by_cluster_queue_;
  std::map<Time, Set> timers_;
  std::vector<WorkloadId> marked_;  // some may be gone since
};

}  // namespace berth::engine
