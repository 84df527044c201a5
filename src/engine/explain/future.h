// One future: a copy of the engine that is played forward, with run times of its own, until the workloads that are
// asked about have started.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/explain/arrivals.h"
#include "engine/explain/rehearsal.h"
#include "engine/explain/run_times.h"

namespace berth::engine {

// What is asked of each future.
struct FutureQuestion {
  std::map<std::string, std::size_t> waiting;  // by key: the number of its answer
  std::size_t answers = 0;
  std::set<std::string> trees;  // the trees of cohorts that matter; empty: all
};

// The tree of cohorts of a cluster queue, by a name of its own.
std::string tree_of(const Engine& engine, const std::string& cluster_queue);

class Future {
 public:
  enum class Stop : std::uint8_t {
    kSteps,    // run() goes on with more of them
    kDone,     // all have started, or nothing more happens
    kHorizon,  // some still wait there
    kEndless,  // workloads preempt each other without end
  };

  // `present`: as it is now. `question` and `times` must outlive it.
  Future(Rehearsal present, RunTimes& times, const FutureQuestion& question, int number)
      : play_(std::move(present)),
        times_(times),
        question_(question),
        number_(number),
        open_(question.waiting.size()),
        started_(question.answers) {}

  // Plays until the question is answered; each start and each end takes one of `steps`.
  Stop run(std::size_t& steps, Time horizon);

  bool has_arrivals() const { return arrivals_.has_value(); }
  Time reached() const { return play_.now(); }
  const std::vector<std::optional<Time>>& started() const { return started_; }  // by answer
  // What the run times rest on, by workload.
  const std::map<std::string, std::string_view>& bases() const { return bases_; }
  // Workloads that hold quota, and of whose end nothing is known.
  const std::set<std::string>& unknown() const { return unknown_; }

 private:
  bool settle(std::size_t& steps);
  void consider(const api::kueue::WorkloadRef& workload, bool first);
  void forget(const std::string& key);
  void begin(const std::string& key, const api::kueue::WorkloadRef& workload, bool first);
  bool matters(const std::string& cluster_queue);
  void expect_arrivals();
  void arrive(Time until, std::size_t& steps);
  void answer_checks(const api::kueue::WorkloadRef& workload);
  void end_those_due(Time now, std::size_t& steps);

  Rehearsal play_;
  RunTimes& times_;
  const FutureQuestion& question_;
  const int number_;
  std::size_t open_;  // that have not started
  // Of those, the ones that stood in a queue in the beginning: the others may wait for something that is not played.
  std::set<std::string> queued_;
  std::optional<Arrivals> arrivals_;         // nullopt: none that matter
  std::map<std::string, std::string> like_;  // UID of a workload that one is like which arrived here, by key
  std::vector<std::optional<Time>> started_;
  bool begun_ = false, answered_ = false;
  std::map<std::string, Time> running_;          // their ends
  std::set<std::pair<Time, std::string>> ends_;  // of `running_`, by time
  std::map<std::string, std::string_view> bases_;
  std::set<std::string> unknown_;
  std::map<std::string, std::string> tree_of_;  // by cluster queue
};

}  // namespace berth::engine
