// Plays a load against an API server on the caller's clock, virtual or real. It creates the load's objects, submits
// the workloads, finishes workloads without an owner as if they had run, and measures how long each one waited.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "base/result.h"
#include "embedded/simulate/load.h"

namespace berth::simulate {

// kWorkloads: Workloads without an owner, as in Kueue's scheduler benchmark; the play pretends that they run from
// their admission on. kJobs: Jobs whose pods a cluster creates, binds and runs. kPods: single pods, and groups of pods
// for workloads with more than one; a cluster binds and runs them. kJobSets: JobSets
// of two replicated jobs, which the server must know.
enum class LoadAs : std::uint8_t { kJobs, kWorkloads, kPods, kJobSets };
// The kind that is submitted.
std::string_view submitted_kind(LoadAs as);

struct LoadProgress {
  Duration at{};  // since the start
  std::size_t submitted = 0, admitted = 0, finished = 0;
  std::size_t made = 0;  // number of the load's objects created so far, before the start
};

// Results for the workloads of one class.
struct LoadClassReport {
  std::string class_name;
  std::size_t count = 0, finished = 0;
  // Time from submission to the last admission, of each admitted workload. The time lost by an eviction counts as
  // waiting.
  Duration wait_average{}, wait_median{}, wait_p95{}, wait_longest{};
  Duration held_average{};     // from the last admission to the finish
  Duration runtime_average{};  // average of runtimeMs in the file
  std::size_t evictions = 0;
};

struct LoadReport {
  std::vector<LoadClassReport> classes;  // in order of the file
  std::size_t count = 0, finished = 0;
  std::int64_t pods = 0;  // of all workloads
  Duration last_submission{};
  // from the start until the last workload finishes; until the end of the play when some workloads do not finish
  Duration makespan{};
  Duration quota_floor{};
  double utilisation = 0;  // quota in use divided by nominal quota, from the start until `makespan`
  // Set only in virtual time.
  bool virtual_time = false;
  std::map<std::string, std::uint64_t>
      controller_requests;       // "patch workloads/status" -> count; requests for events are not counted
  std::uint64_t api_writes = 0;  // by all clients, events included
  std::map<std::string, std::size_t> unfinished;  // message of why they wait ("": admitted) -> number of workloads
};

struct LoadPlayOptions {
  LoadAs as = LoadAs::kJobs;
  std::function<void()> on_start;                        // called when the objects exist and submitting begins
  std::function<void(const LoadProgress&)> on_progress;  // called every second, and for each object before the start
  // Called when the play stalls, with the likely reason and advice: after 30 s without progress, and then every
  // minute.
  std::function<void(const std::string&)> on_stall;
  // Client that writes the status of pretended runs, so that a queue of submissions does not delay them. In a real
  // cluster these are different clients. Null: use the play's client. Must outlive the play.
  api::RestClient* runs = nullptr;
};

class LoadPlay {
 public:
  // All arguments must outlive the play. The destructor ends the play; answers that arrive later are ignored.
  LoadPlay(const Load& load, api::RestClient& client, Executor& executor, LoadPlayOptions options);
  ~LoadPlay();

  // Calls `done` once: when all workloads have finished, or after ten minutes in which nothing was submitted,
  // admitted or finished. An error holds the server's message for the first object that it refused.
  void start(std::function<void(Result<LoadReport>)> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// Deletes what a play created, workloads first. Objects that do not exist or cannot be deleted are ignored. `done` is
// always called.
void remove_load(const Load& load, LoadAs as, api::RestClient& client, std::function<void()> done);

std::string to_table(const LoadReport& report);
Json to_json(const LoadReport& report);

}  // namespace berth::simulate
