// A small simulated environment of the engine: an API that stores workloads, jobs that start and stop, a clock that
// moves only on request. After every step all invariants of the engine are checked.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/support/build.h"

namespace berth::engine::test {

class Scenario {
 public:
  explicit Scenario(Options options = {});

  // --- Objects. The engine sees each immediately; run() lets it act.
  void give(const api::kueue::ClusterQueue& queue);
  void give(const api::kueue::Cohort& cohort);
  void give(const api::kueue::LocalQueue& queue);
  void give(const api::kueue::ResourceFlavor& flavor);
  void give(const api::kueue::AdmissionCheck& check);
  void give(const api::kueue::Topology& topology);
  void give(const api::Node& node);
  void give(const api::kueue::PodPlacement& pod);
  void give(const Workload& workload);  // creates it
  void take(const Event& gone) { feed(gone); }
  void give_namespace(std::string name, api::StringMap labels);
  void change(const std::string& name, const std::function<void(Workload&)>& edit, bool spec = false);
  void remove(const std::string& name);

  // --- Actions. run() performs the engine's effects until there are none.
  void run();
  bool run_once();         // one pass; returns whether nothing followed; remaining answers stay pending
  void pass(int seconds);  // run(), then time passes; requested wake-ups come on time
  void sync();             // reports that the caches are complete; called by the constructor and by restart()
  // Replaces the engine by one that knows only what the API holds. It runs one pass as a follower, then leads.
  void restart();
  void restart_after(int seconds);  // no engine runs meanwhile
  void renumber();                  // call run() afterwards
  void make_anew();                 // from the inputs of the engine, which must be settled; call run() afterwards
  // Goes on with a copy of the engine. The original sees the same events until the next restart, and must return the
  // same effects.
  void copy();

  // Jobs stop as soon as their workload is evicted, unless this is false; then report_stopped() reports it for one
  // job.
  bool jobs_stop_at_once = true;
  void report_stopped(const std::string& name);
  void report(const std::string& name, api::kueue::JobReport report);
  void finish(const std::string& name, const std::string& reason = "Succeeded");
  void report_check(const std::string& name, api::kueue::AdmissionCheckState state);
  void report_dispatch(DispatchReported report);  // of the namespace "ns"

  // Decides the outcome of each write; empty: every write succeeds. A failed write may have taken effect
  // nevertheless.
  using Outcome = WriteSettled::Outcome;
  std::function<Outcome(const std::string& workload)> outcome_of_write;
  bool watch_lags = false;  // the watch does not show the statuses that the engine writes; the test gives them
  bool failed_writes_happen = false;
  // How many of the pending answers (outcomes of writes, watch events) arrive before the next pass; all by default.
  std::function<std::size_t(std::size_t under_way)> answers_that_arrive;

  // --- Queries.
  const Workload& workload(const std::string& name) const;
  std::vector<std::string> names() const;                                       // of all workloads
  std::string state(const std::string& name) const;                             // "Admitted"
  std::string condition(const std::string& name, std::string_view type) const;  // "True Reason: message"
  std::string flavor_of(const std::string& name) const;                         // of cpu in the pod set main
  std::string places_of(const std::string& name) const;  // of the pod set main: "n1:2 n2:2"; "": none
  ClusterQueueStatus cluster_queue(std::string_view name) const;
  LocalQueueStatus local_queue(std::string_view name) const;
  std::vector<std::string> take_events();  // "Workload/w Warning WaitingForQuota: note"
  const Engine& engine() const { return *engine_; }
  std::vector<std::string> take_expired() { return std::exchange(expired_, {}); }  // "w", "the job of w"
  bool deletions_happen = true;
  int writes() const { return writes_; }
  Time now() const { return now_; }
  std::optional<Time> wake() const { return wake_; }
  std::vector<std::string> take_finalizers() { return std::exchange(finalizers_, {}); }  // "+ClusterQueue/cq", "-..."
  const std::set<std::string>& touched_queues() const { return touched_queues_; }
  const std::set<std::string>& touched_cohorts() const { return touched_cohorts_; }
  void forget_touched() {
    touched_queues_.clear();
    touched_cohorts_.clear();
  }

 private:
  void feed(const Event& event);
  void expect_same(const Effects& ours, const Effects& of_original);
  void perform(const Effects& effects);
  void perform(const WriteWorkloadStatus& e);
  void perform(const DeactivateWorkload& e);
  void settle(std::uint64_t write, Outcome outcome, const std::string& version);
  void store(const std::string& key, Workload w, bool spec_changed);
  void stop_jobs();
  void check();
  void deliver();

  Options options_;
  std::unique_ptr<Engine> engine_, original_;  // original_: null unless engine_ is a copy of it
  Time now_ = kEpoch;
  std::map<std::string, Ptr<Workload>> api_;
  std::vector<Event> everything_;  // configuration as given, for restarts
  int version_ = 100;
  int writes_ = 0;
  std::optional<Time> wake_;
  std::vector<std::string> events_, finalizers_, expired_;
  std::set<std::string> touched_queues_, touched_cohorts_;
  std::vector<Event> answers_;  // to writes, delivered before the next pass
};

}  // namespace berth::engine::test
