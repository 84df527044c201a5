// The engine: takes events, returns effects. It is pure: no thread, no clock, no socket, no log, no random number, no
// global. The same options and the same events give the same effects, byte for byte.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "engine/effects.h"
#include "engine/events.h"
#include "engine/explanation.h"
#include "engine/options.h"
#include "engine/pending_workload.h"
#include "engine/queue_census.h"
#include "engine/queue_status.h"

namespace berth::engine {

class Rehearsal;

class Engine {
 public:
  explicit Engine(Options options);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  // A copy: given the same events it returns the same effects as the original, byte for byte. Costs a walk over all
  // objects; the objects themselves are shared.
  Engine copy() const;

  // Learns one event. Cheap: makes no scheduling decision and writes no workload. The next schedule() writes what
  // follows for workloads, so that several transitions of one batch become one request.
  Effects handle(Time now, const Event& event);
  // Admits and preempts until nothing more fits, then writes every workload that changed (at most one write per
  // workload is in flight; the next one follows when it has settled). Call it after a batch of events, including
  // WriteSettled and TimePassed. Before Synced it decides and writes nothing: it only records pending workloads and
  // quota holders, so that a follower can answer questions about positions and is ready to lead.
  Effects schedule(Time now);

  std::optional<ClusterQueueStatus> cluster_queue_status(std::string_view name) const;
  std::optional<LocalQueueStatus> local_queue_status(std::string_view ns, std::string_view name) const;
  std::optional<CohortStatus> cohort_status(std::string_view name) const;  // nullopt: no such Cohort object
  // Does not iterate over workloads; zeros for an unknown queue.
  PendingCounts pending_counts(std::string_view cluster_queue) const;

  // For metrics. They cost as much as there are reasons, however many workloads wait. nullopt: no such queue.
  std::optional<QueueCensus> cluster_queue_census(std::string_view name) const;
  std::optional<QueueCensus> local_queue_census(std::string_view ns, std::string_view name) const;
  // Every unfinished workload, in no particular order: a walk over all of them.
  void for_each_standing(const std::function<void(const WorkloadStanding&)>& visit) const;
  // From the queue's own cohort up to the root; empty when the queue is unknown or its cohorts form a cycle.
  std::vector<std::string> cohorts_above(std::string_view cluster_queue) const;
  // Every cohort, implicit ones too, without those whose ancestors form a cycle.
  std::map<std::string, CohortPlace> cohorts() const;
  // Pairs with neither quota nor usage are left out. Order: as flavors and resources became known. Costs a walk over
  // the cohorts and cluster queues below it.
  std::vector<SubtreeQuota> cohort_quotas(std::string_view cohort) const;
  // Whether the last schedule() looked at a workload that waits.
  bool evaluated() const;

  // Pending workloads as of the last schedule(), from the 0-based position `offset`, at most `limit`. O(log n) each.
  // nullopt: no such queue.
  std::optional<std::vector<PendingWorkload>> pending_in_cluster_queue(std::string_view name, std::size_t offset,
                                                                       std::size_t limit) const;
  std::optional<std::vector<PendingWorkload>> pending_in_local_queue(std::string_view ns, std::string_view name,
                                                                     std::size_t offset, std::size_t limit) const;
  // Why a workload waits and the smallest changes that would give it quota now, or what it got and why. Tries changes
  // on copies of its tree of cohorts: some milliseconds per thousand workloads there. nullopt: no such workload, or it
  // has finished.
  std::optional<Explanation> explain(Time now, std::string_view ns, std::string_view workload) const;
  // The names of the nodes with this label.
  std::vector<std::string> nodes_with(const std::string& label, const std::string& value) const;
  // Whether the workload holds quota, as decided, whether or not that is written yet. A slice whose quota another one
  // took over holds none any more. False: no such workload.
  bool holds_quota(std::string_view ns, std::string_view workload) const;
  // nullopt: it is not pending
  std::optional<PendingPosition> pending_position(std::string_view ns, std::string_view workload) const;

  // The number of flavors, resources and (flavor, resource) pairs that have an internal number: those in use plus a
  // bounded number of unused ones. schedule() renumbers when there are more. A test may call renumber() between any
  // two calls; it costs only time.
  std::size_t names_kept() const;
  void renumber();

  // Whether an engine that is made from inputs() may take the place of this one: no write is in flight, no version is
  // awaited, and nothing is decided that the API may or may not hold already. Messages about waiting workloads do not
  // count: the other engine makes them again. Iterates over all workloads.
  bool settled() const;
  // The events that bring a new engine with the same options to what this one has seen: as after a restart, but with
  // the reports of jobs and checks, and with the past usage of local queues. Meant for a settled engine. Lost are:
  // times of retries and second passes (they begin with the shortest delay), the sticky workload of a queue, messages
  // not yet written, and which finalizers and queue statuses were reported (they are reported again).
  std::vector<Event> inputs() const;

  // Who holds quota, by key. Iterates over all workloads: for tests and simulation only.
  std::vector<HeldQuota> held_quotas() const;
  // All broken invariants as sentences; empty when all hold. Costs a full recomputation: for tests and simulation.
  //  - usage equals the sum of claims, and a rebuilt ledger equals this one
  //  - no workload got places on nodes without enough capacity for them
  //  - no workload is lost: each is finished, claimed, queued, parked or held by a named condition
  //  - no parked workload would be admitted now or, while no eviction is under way, find victims
  std::vector<std::string> check_invariants() const;

 private:
  friend class Rehearsal;
  struct Impl;
  Engine(const Engine& other);  // copy() says that it costs

  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::engine
