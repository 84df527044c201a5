// Plays a load on a whole cluster in virtual time and measures what came of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "controller/feature_gates.h"
#include "simulate/load.h"

namespace berth::simulate {

struct LoadProgress {
  Duration at{};  // since the start
  std::size_t submitted = 0, admitted = 0, finished = 0;
};

struct LoadRunOptions {
  // Workloads nobody owns, of which it is pretended that they run from their admission on, as Kueue's
  // benchmark does; or Jobs, whose pods the pretend cluster makes, binds and runs.
  enum class As : std::uint8_t { kJobs, kWorkloads };
  As as = As::kJobs;
  controller::FeatureGates feature_gates;
  std::uint64_t seed = 1;
  std::function<void(const LoadProgress&)> on_progress;  // every second of virtual time
};

// Of the workloads of one class, in virtual time.
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
  std::map<std::string, std::uint64_t>
      controller_requests;       // "patch workloads/status" -> count; events left out
  std::uint64_t api_writes = 0;  // of everybody, events included
  std::map<std::string, std::size_t> unfinished;  // what they wait for, "" when they were admitted -> count
};

// Fails when the load cannot be played: the server refuses an object. Workloads that never finish are in the
// report: the play ends when nothing was submitted, admitted or finished for ten minutes.
Result<LoadReport> run_load(const Load& load, const LoadRunOptions& options);

std::string to_table(const LoadReport& report);
Json to_json(const LoadReport& report);

}  // namespace berth::simulate
