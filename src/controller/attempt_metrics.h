// Counts attempts of admission, under Kueue's names: rounds of decisions that looked at workloads that wait.
#pragma once

#include <optional>
#include <string>

#include "base/metrics.h"
#include "base/time.h"
#include "engine/effects.h"

namespace berth::controller {

class AttemptMetrics {
 public:
  // Every series has the label replica_role=`role`.
  AttemptMetrics(Metrics& metrics, std::string role);

  // One round of decisions. `evaluated`: it looked at workloads that wait. Rounds that admit nothing count as one when
  // they begin within a second: Kueue collects for a second, too, what may help parked workloads.
  struct Round {
    Time began{};
    Duration took{};
    bool evaluated = false;
  };
  void decided(const engine::Effects& effects, const Round& round);
  // Counts what was collected; call before the metrics are read.
  void refresh();

 private:
  void count(const char* result, Duration took);

  std::string role_;
  CounterFamily attempts_;
  HistogramFamily duration_;
  Time collects_until_{};              // since the last attempt in vain
  std::optional<Duration> collected_;  // how long the latest round took that is not counted yet
};

}  // namespace berth::controller
