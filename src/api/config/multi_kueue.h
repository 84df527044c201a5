// The part `multiKueue` of the configuration: jobs that run on other clusters. Defaults are Kueue's.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace berth::api::config {

struct MultiKueue {
  // How often garbage on the workers is looked for that no change told of; zero: never.
  Duration gc_interval = std::chrono::minutes(1);
  // How long a job waits for a lost cluster before it runs elsewhere; zero: not at all.
  Duration worker_lost_timeout = std::chrono::minutes(15);
  std::string origin = "multikueue";  // the value of the label of all objects on workers; a label value, never empty
  bool incremental = false;           // dispatcherName is that of the incremental dispatcher
  bool external = false;              // dispatcherName is none of Berth's: another client nominates clusters
  std::int32_t step_size = 3;         // incrementalDispatcherConfig.stepSize: clusters per round, at least 1
  bool operator==(const MultiKueue&) const = default;
};

}  // namespace berth::api::config
