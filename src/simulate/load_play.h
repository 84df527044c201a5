// Plays a load against an API server on the caller's clock, virtual or real: makes its objects, submits, pretends that bare
// workloads run, and measures how long everybody waited.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "base/result.h"
#include "simulate/load.h"

namespace berth::simulate {

// Workloads nobody owns, of which it is pretended that they run from their admission on, as Kueue's benchmark does; or Jobs, whose
// pods a cluster makes, binds and runs.
enum class LoadAs : std::uint8_t { kJobs, kWorkloads };

struct LoadProgress {
  Duration at{};  // since the start
  std::size_t submitted = 0, admitted = 0, finished = 0;
  std::size_t made = 0;  // of the load's objects: before the start
};

// Of the workloads of one class.
struct LoadClassReport {
  std::string class_name;
  std::size_t count = 0, finished = 0;
  // From its submission to the last admission of each admitted workload: what an eviction took counts as
  // waiting.
  Duration wait_average{}, wait_median{}, wait_p95{}, wait_longest{};
  Duration held_average{};     // from the last admission to the end
  Duration runtime_average{};  // what the file asks for
  std::size_t evictions = 0;
};

struct LoadReport {
  std::vector<LoadClassReport> classes;  // in order of the file
  std::size_t count = 0, finished = 0;
  Duration last_submission{};
  Duration makespan{};  // from the start to the end of the last workload; to the end of the play when some
                        // never end
  Duration quota_floor{};
  double utilisation = 0;  // quota in use over nominal quota, until `makespan`
  // Known in virtual time only.
  bool virtual_time = false;
  std::map<std::string, std::uint64_t>
      controller_requests;       // "patch workloads/status" -> count; events left out
  std::uint64_t api_writes = 0;  // of everybody, events included
  std::map<std::string, std::size_t> unfinished;  // what they wait for, "" when they were admitted -> count
};

struct LoadPlayOptions {
  LoadAs as = LoadAs::kJobs;
  std::function<void()> on_start;                        // the objects are there; submitting begins
  std::function<void(const LoadProgress&)> on_progress;  // every second, and with each object before the start
  // It stands still: why, and what to do. Half a minute after nothing happens any more that should, and then each minute.
  std::function<void(const std::string&)> on_stall;
  // Who writes what becomes of pretended runs, so that a queue of submissions does not hold up what runs already: in a cluster they
  // are not the same people. Null: the play's client. Must outlive the play.
  api::RestClient* runs = nullptr;
};

class LoadPlay {
 public:
  // All of them must outlive the play. Destroying it ends it; what is under way is ignored.
  LoadPlay(const Load& load, api::RestClient& client, Executor& executor, LoadPlayOptions options);
  ~LoadPlay();

  // `done` is called once, when all have finished, or when nothing was submitted, admitted or finished for ten minutes. An error
  // says what the server said to the first object that it refused.
  void start(std::function<void(Result<LoadReport>)> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// Deletes what a play has made, workloads first. What is not there or cannot be deleted is left alone; `done` is called in any case.
void remove_load(const Load& load, LoadAs as, api::RestClient& client, std::function<void()> done);

std::string to_table(const LoadReport& report);
Json to_json(const LoadReport& report);

}  // namespace berth::simulate
