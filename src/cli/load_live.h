// Plays a load in real time against an API server whose controller is another process.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "simulate/load_play.h"

namespace berth::cli {

struct LiveLoadOptions {
  std::string kubeconfig;  // "": what the environment says
  simulate::LoadAs as = simulate::LoadAs::kWorkloads;
  double qps = 0;     // requests per second; 0: no limit
  bool keep = false;  // nothing is deleted at the end
  std::function<void(const simulate::LoadProgress&)> on_progress;  // as of a LoadPlay
  std::function<void(const std::string&)> on_stall;
};

struct LiveLoadReport {
  simulate::LoadReport load;
  std::map<std::string, std::uint64_t> requests;  // of this process during the play, that were taken: "patch workloads/status"
};

// Only deletes what an earlier play of the same load has kept.
Result<void> remove_live_load(const simulate::Load& load, const LiveLoadOptions& options);

// Deletes what it made, unless asked not to; also when it is interrupted (SIGINT, SIGTERM), which is an error.
Result<LiveLoadReport> run_live_load(const simulate::Load& load, const LiveLoadOptions& options);

}  // namespace berth::cli
