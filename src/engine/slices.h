// Slices of elastic jobs (KEP-77): a job that grows gets a new workload, which names the one that it replaces. The one
// that is replaced runs until the new one reserves quota. From that moment it holds nothing, and it finishes once the
// API shows the reservation.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/engine_facts.h"
#include "engine/queue/workload.h"
#include "engine/tracked.h"

namespace berth::engine {

// The status by which it holds quota: the decided one, that of the write in flight, or the API's; nullptr: none does,
// or another slice has taken its quota over.
const api::kueue::WorkloadStatus* holding_status(const Tracked& t);

// "namespace/name" by which its pods name a workload: its own, or that of the first slice of its chain.
std::string name_for_pods(const api::ObjectMeta& workload);

class Slices {
 public:
  Slices(const EngineFacts& facts, TrackedWorkloads& workloads) : facts_(facts), workloads_(workloads) {}
  // A copy about the same workloads of `workloads`, which is a copy of the other's.
  Slices(const Slices& other, const EngineFacts& facts, TrackedWorkloads& workloads)
      : facts_(facts), workloads_(workloads), successors_(other.successors_) {}

  // Reads which slice the workload names. Call it for each version of it.
  void file(Tracked& t);
  void forget(Tracked& t);

  // The slice that it replaces. Null when it names none, or one that is not known, of another job, or that replaces it
  // in turn.
  Tracked* predecessor(const Tracked& t) const;
  // Whether one that replaces it holds quota.
  bool is_replaced(const Tracked& t) const;
  // Marks those that replace it: what they ask for depends on what it holds.
  void mark_successors(const Tracked& t) const;

  // What it leaves to its successor in this cluster queue; nullopt: nothing.
  std::optional<Replacement> replacement(const Tracked& former, std::string_view cluster_queue) const;
  // Why it finishes: the API shows that its successor holds the quota. "" before that.
  std::string reported_replacement(const Tracked& t) const;

 private:
  template <typename Visit>
  void for_each_successor(const Tracked& t, Visit visit) const;  // by key

  const EngineFacts& facts_;
  TrackedWorkloads& workloads_;
  // By key of the slice that is replaced: the keys of those that name it.
  std::map<std::string, std::set<std::string>, std::less<>> successors_;
};

}  // namespace berth::engine
