// Plays a load in real time against an API server whose controller runs in another process.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "embedded/simulate/load_play.h"

namespace berth::cli {

struct LiveLoadOptions {
  std::string kubeconfig;  // "": from the environment
  simulate::LoadAs as = simulate::LoadAs::kWorkloads;
  double qps = 0;                                                  // requests per second; 0: no limit
  bool keep = false;                                               // delete nothing at the end
  std::function<void(const simulate::LoadProgress&)> on_progress;  // see LoadPlayOptions
  std::function<void(const std::string&)> on_stall;
};

struct LiveLoadReport {
  simulate::LoadReport load;
  // successful requests of this process during the play, by "patch workloads/status"
  std::map<std::string, std::uint64_t> requests;
};

// Only deletes the objects that an earlier play of the same load kept.
Result<void> remove_live_load(const simulate::Load& load, const LiveLoadOptions& options);

// Deletes what it created unless `keep` is set, also when it is interrupted (SIGINT, SIGTERM), which is an error.
Result<LiveLoadReport> run_live_load(const simulate::Load& load, const LiveLoadOptions& options);

}  // namespace berth::cli
