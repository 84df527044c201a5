// Plays a load on a whole cluster in virtual time.
#pragma once

#include <cstdint>
#include <functional>

#include "controller/feature_gates.h"
#include "embedded/simulate/load_play.h"

namespace berth::simulate {

struct LoadRunOptions {
  LoadAs as = LoadAs::kJobs;  // the pretend cluster runs the pods of jobs, and pods
  controller::FeatureGates feature_gates;
  std::uint64_t seed = 1;
  std::function<void(const LoadProgress&)> on_progress;  // see LoadPlayOptions; in virtual time
  std::function<void(const std::string&)> on_stall;
};

// Fails when the server refuses an object of the load. Workloads that never finish are counted in the report.
Result<LoadReport> run_load(const Load& load, const LoadRunOptions& options);

}  // namespace berth::simulate
