// The parts of Engine and how a pass uses them. handle() stores what was seen and marks the workloads it affects;
// schedule() processes all marked workloads, lets the scheduler decide, and writes what changed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/census.h"
#include "engine/configuration.h"
#include "engine/decision_applier.h"
#include "engine/engine.h"
#include "engine/engine_facts.h"
#include "engine/failed_nodes.h"
#include "engine/finalizers.h"
#include "engine/messages.h"
#include "engine/node_devices.h"
#include "engine/node_watch.h"
#include "engine/queue_reports.h"
#include "engine/retention.h"
#include "engine/schedule/scheduler.h"
#include "engine/scheduled_pods.h"
#include "engine/scheduler_feed.h"
#include "engine/second_pass_timers.h"
#include "engine/slices.h"
#include "engine/tracked.h"
#include "engine/transitions.h"
#include "engine/wake_ups.h"
#include "engine/workload_events.h"
#include "engine/workload_views.h"
#include "engine/workload_writes.h"

namespace berth::engine {

// How many internal names (flavors, resources, pairs) may be unused, in addition to as many as are in use. Each name
// costs some hundred bytes and a cell in every queue; renumbering processes every pending workload.
inline constexpr std::size_t kSpareNames = 1'024;

// What an engine knows that refers to no other part: copied as a whole.
struct EngineValues {
  explicit EngineValues(const Options& o) : facts(o), nodes(o), scheduled_pods(o), retention(o.retention) {}

  // What the next pass must know.
  struct PassFacts {
    bool recalls_protected = false;         // the messages of waiting workloads say whom they spare
    bool usage_recalled = false;            // claims in the book of usage wait for their workloads
    std::size_t names_bound = kSpareNames;  // renumber() when there are more names than this
  };

  EngineFacts facts;
  NodeDevices devices;
  NodeWatch nodes;
  ScheduledPods scheduled_pods;
  Retention retention;
  TrackedWorkloads workloads;
  Finalizers finalizers;
  WakeUps wake_ups;
  PassFacts pass_facts;
};

struct Engine::Impl : EngineValues {
  explicit Impl(const Options& options);
  Impl(const Impl& other);

  // --- handle() (engine.cpp). Most events belong to one part.
  template <typename E>
  void on(Time now, const E& e, Effects& out) {
    if constexpr (requires { configuration.on(e); }) {
      configuration.on(e);
    } else {
      workload_events.on(now, e, out);
    }
  }
  void on(Time now, const Synced& e, Effects& out);
  void on(Time now, const TimePassed& e, Effects& out);
  void on(Time now, const UsageRecalled& e, Effects& out);
  void on(Time now, const NodeDevicesSeen& e, Effects& out);
  void on(Time now, const DevicesTaken& e, Effects& out);

  // --- schedule() (engine_pass.cpp).
  Effects schedule(Time now);
  void learn(Time now);
  void look_at_marked(Time now);
  void step(Tracked& t, Time now);
  void write(Time now, Effects& out);
  void report(Time now, Effects& out);
  void emit_expired(Effects& out, Time now);
  void emit_wake(Effects& out, Time now);

  // --- The second pass (second_pass.cpp).
  void second_pass(Tracked& t, Time now);
  bool take_places(Tracked& t, const Scheduler::SecondPassResult& result, Time now);
  void second_pass_failed(Tracked& t, const std::string& message, Time now);

  // --- After a restart (recall.cpp).
  void end_recall();
  void recall_protected();

  // --- The scheduler made anew (renumber.cpp).
  Scheduler rebuilt(std::map<const Tracked*, WorkloadId>& ids) const;
  void renumber();
  std::vector<std::string> check_invariants() const;
  void check_workloads(const Scheduler& fresh, const std::map<const Tracked*, WorkloadId>& fresh_ids,
                       std::vector<std::string>& broken) const;
  void check_usage(const Scheduler& fresh, std::vector<std::string>& broken) const;

  // Each part refers to the values and to parts above it only.
  Scheduler scheduler;
  Slices slices;
  WorkloadViews views;
  Census census;
  QueueReports reports;
  Messages messages;
  WorkloadWrites writes;
  SecondPassTimers second_passes;
  FailedNodes failed_nodes;
  Transitions transitions;
  DecisionApplier decisions;
  SchedulerFeed feed;
  Configuration configuration;
  WorkloadEvents workload_events;
};

SchedulerOptions scheduler_options(const Options& options);

}  // namespace berth::engine
