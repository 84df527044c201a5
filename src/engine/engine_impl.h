// The implementation of Engine. handle() stores what was seen and marks the workloads it affects; schedule()
// processes all marked workloads, lets the scheduler decide, and writes what changed.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/leisure.h"
#include "engine/lifecycle/next.h"
#include "engine/node_watch.h"
#include "engine/registries.h"
#include "engine/retention.h"
#include "engine/schedule/scheduler.h"
#include "engine/tracked.h"

namespace berth::engine {

// How many internal names (flavors, resources, pairs) may be unused, in addition to as many as are in use. Each name
// costs some hundred bytes and a cell in every queue; renumbering processes every pending workload.
inline constexpr std::size_t kSpareNames = 1'024;

// The part of the engine's state that is plain values, copied as a whole.
struct EngineFacts {
  explicit EngineFacts(const Options& o) : options(o) {}

  Options options;
  Registries registries;
  bool synced = false;
  std::optional<Time> synced_at;
  bool recalls_spared = false;               // the messages of waiting workloads say whom they spare
  bool usage_recalled = false;               // claims in the book of usage wait for their workloads
  bool configuration_changed = false;        // queues, flavors, topologies or checks
  bool rules_changed = false;                // flavors, topologies or checks: affects all cluster queues
  std::set<std::string> changed_queues;      // cluster queues whose object changed
  std::set<std::string> terminating_queues;  // deleted cluster queues that still have a finalizer
  std::set<std::string> unguarded_queues;    // cluster queues seen since their finalizers were last considered
  std::deque<Ptr<Asks>> asks_known;          // recently computed Asks, shared by workloads that request the same
  Leisure leisure;
  std::uint64_t last_write = 0;
  std::set<std::string> touched_cluster_queues, touched_local_queues, touched_cohorts;
  std::map<std::pair<std::string, std::string>, std::pair<std::string, bool>>
      told_finalizers;                    // (kind, name) -> (version, present)
  std::size_t names_bound = kSpareNames;  // renumber() when there are more names than this
  std::optional<Time> told_wake;
  int passes_at_once = 0;  // consecutive passes that asked for another one immediately
};

struct Engine::Impl : EngineFacts {
  explicit Impl(const Options& options);
  Impl(const Impl& other);

  // --- handle() (engine.cpp).
  void on(Time now, const ClusterQueueSeen& e, Effects& out);
  void on(Time now, const ClusterQueueGone& e, Effects& out);
  void on(Time now, const CohortSeen& e, Effects& out);
  void on(Time now, const CohortGone& e, Effects& out);
  void on(Time now, const LocalQueueSeen& e, Effects& out);
  void on(Time now, const LocalQueueGone& e, Effects& out);
  void on(Time now, const ResourceFlavorSeen& e, Effects& out);
  void on(Time now, const ResourceFlavorGone& e, Effects& out);
  void on(Time now, const AdmissionCheckSeen& e, Effects& out);
  void on(Time now, const AdmissionCheckGone& e, Effects& out);
  void on(Time now, const NamespaceSeen& e, Effects& out);
  void on(Time now, const NamespaceGone& e, Effects& out);
  void on(Time now, const LimitRangeSeen& e, Effects& out);
  void on(Time now, const LimitRangeGone& e, Effects& out);
  void on(Time now, const RuntimeClassSeen& e, Effects& out);
  void on(Time now, const RuntimeClassGone& e, Effects& out);
  void on(Time now, const TopologySeen& e, Effects& out);
  void on(Time now, const TopologyGone& e, Effects& out);
  void on(Time now, const NodeSeen& e, Effects& out);
  void on(Time now, const NodeGone& e, Effects& out);
  void on(Time now, const PodSeen& e, Effects& out);
  void on(Time now, const PodGone& e, Effects& out);
  void on(Time now, const CheckReported& e, Effects& out);
  void on(Time now, const WorkloadSeen& e, Effects& out);
  void on(Time now, const WorkloadGone& e, Effects& out);
  void on(Time now, const JobReported& e, Effects& out);
  void on(Time now, const WriteSettled& e, Effects& out);
  void on(Time now, const TimePassed& e, Effects& out);
  void on(Time now, const Synced& e, Effects& out);
  void on(Time now, const UsageRecalled& e, Effects& out);
  void see_usage(const api::kueue::LocalQueue* known, const api::kueue::LocalQueue& seen);
  void mark_namespace(std::string_view ns, bool pods_changed);
  void mark_all(const std::vector<WorkloadId>& concerned);

  // --- Versions of workloads and writes (engine_writes.cpp).
  void accept(Tracked& t, const Ptr<api::kueue::Workload>& seen);
  void forget(Tracked& t, Time now);
  void write_done(Tracked& t, const InFlight& done, const std::string& version, Time now, Effects& out);
  void write_conflicted(Tracked& t, Time now);
  void await(Tracked& t, const std::string& version, bool newer, Time now);
  void stop_awaiting(Tracked& t, Time now);
  void write_failed(Tracked& t, Time now);
  // no write may start now: one is in flight, or a version or a retry time is awaited
  static bool busy(const Tracked& t, Time now);
  static bool settled(const Tracked& t);
  // Messages (status writes that only say why a workload waits) are rate-limited.
  void flush(Tracked& t, Time now, Effects& out, bool its_turn = false);
  void tell_later(Tracked& t, Time now);
  void told(Tracked& t);  // removes it from `untold`: no message about it is waiting any more
  void tell_at_leisure(Time now, Effects& out);

  // --- schedule() (engine_pass.cpp).
  Effects schedule(Time now);
  void learn(Time now);
  bool over(const Tracked& t) const;
  void refresh_configuration();
  void end_recall();
  void recall_spared();
  void look_at_marked(Time now);
  void step(Tracked& t, Time now);
  void place(Tracked& t, Time now);  // puts it where it belongs in the scheduler: holding quota, pending, or absent
  void count_held(Tracked& t);       // in the sums of its queues; once in a pass, when its status is decided
  void set_timer(Tracked& t);
  void apply(Tracked& t, lifecycle::Change change);
  void decide(Time now);
  void on_decision(const Admit& d, Time now);
  void on_decision(const Preempt& d, Time now);
  void on_decision(const Wait& d, Time now);
  void note_pending(Tracked& t, lifecycle::PendingReason why, Time now);
  void say_of_this_generation(Tracked& t, Time now);
  lifecycle::Situation situation_of(const Tracked& t) const;
  std::optional<Time> report_due(const Tracked& t) const;  // see Situation::report_due
  lifecycle::Priority priority_of(const api::kueue::Workload& workload) const;
  const Asks& asks_for(Tracked& t);
  const api::kueue::WorkloadStatus* holding_status(const Tracked& t) const;
  std::optional<Pending> pending_of(Tracked& t);
  Pending pending_with(const Tracked& t, const api::kueue::LocalQueue& local, const Asks& asks) const;
  std::optional<Explanation> explain(Time now, std::string_view ns, std::string_view name) const;
  Holding holding_of(const Tracked& t, const api::kueue::WorkloadStatus& status) const;

  // --- Topology placement and node failures (engine_places.cpp).
  std::vector<PodSetRequest> admitted_pod_sets(const Tracked& t) const;
  std::vector<Holding::PodSetPlaces> places_of(const Tracked& t, const api::kueue::WorkloadStatus& status) const;
  void watch_nodes(Tracked& t);
  void look_at_nodes(Tracked& t, lifecycle::Situation& situation, Time now) const;

  // --- The second pass (second_pass.cpp).
  lifecycle::SecondPassNeed second_pass_need(const Tracked& t) const;
  void plan_second_pass(Tracked& t, Time now);
  void second_passes(Time now);
  void second_pass(Tracked& t, Time now);
  bool take_places(Tracked& t, const Scheduler::SecondPassResult& result, Time now);
  void second_pass_failed(Tracked& t, const std::string& message, Time now);

  // --- Pages of pending workloads (engine_pending.cpp).
  std::vector<PendingWorkload> pending_page(std::string_view cluster_queue, std::size_t offset,
                                            std::size_t limit) const;
  std::vector<PendingWorkload> pending_page(std::string_view cluster_queue, std::string_view local_queue,
                                            std::size_t offset, std::size_t limit) const;

  // --- Counts of unadmitted workloads (engine_census.cpp).
  std::optional<QueueCensus::Why> why_of(const Tracked& t) const;  // as decided; none: admitted or finished
  void recount(Tracked& t);                                        // call it whenever the decided status changed
  std::vector<std::string> check_census() const;
  std::vector<std::string> check_standings() const;
  std::vector<std::string> check_held() const;

  // --- Statuses, finalizers and wake-ups (engine_status.cpp).
  void touch(const Tracked& t);
  void touch_shares();
  void touch_cohorts_of(std::string_view cluster_queue);
  void emit_queue_statuses(Effects& out);
  void emit_finalizers(Effects& out);
  void emit_expired(Effects& out, Time now);
  void emit_wake(Effects& out, Time now);
  std::optional<FairShareStatus> fair_share(NodeId node) const;
  std::optional<PastUsageStatus> past_usage(std::string_view local_queue) const;
  std::vector<std::string> check_invariants() const;
  void renumber();

  // --- A copy by events (engine_inputs.cpp).
  void inputs_of(const Tracked& t, std::vector<Event>& out) const;
  Scheduler rebuilt(std::map<const Tracked*, WorkloadId>& ids) const;

  Scheduler scheduler;
  NodeWatch nodes;
  Retention retention;
  TrackedWorkloads workloads;

  TrackedWorkloads::Set to_flush;  // workloads that may have something to write
  TrackedWorkloads::Set due_second_passes;
  std::map<std::pair<Time, std::string>, Tracked*> untold;  // workloads with a message to write, oldest first
  std::map<std::uint64_t, Tracked*> writes;                 // in flight
};

// The UID of the job that owns the workload (label kueue.x-k8s.io/job-uid); "" without that label.
std::string job_uid_of(const api::kueue::Workload& workload);
// An event about a workload; its note is cut at the API's limit of 1024 bytes.
RecordEvent event_about(const api::kueue::Workload& workload, const lifecycle::Note& note);
SchedulerOptions scheduler_options(const Options& options);

}  // namespace berth::engine
