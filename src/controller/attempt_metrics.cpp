#include "controller/attempt_metrics.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "api/object_condition.h"

namespace berth::controller {
namespace {

constexpr Duration kCollects = std::chrono::seconds(1);

// Whether a workload that waited got quota in this round.
bool admits(const engine::Effects& effects) {
  return std::ranges::any_of(effects, [](const engine::Effect& effect) {
    const auto* write = std::get_if<engine::WriteWorkloadStatus>(&effect);
    return write != nullptr && !api::is_true(write->base->status.conditions, api::kueue::kQuotaReserved) &&
           api::is_true(write->status.conditions, api::kueue::kQuotaReserved);
  });
}

}  // namespace

AttemptMetrics::AttemptMetrics(Metrics& m, std::string role)
    : role_(std::move(role)),
      attempts_(m.counter("kueue_admission_attempts_total", "Rounds of decisions about workloads that wait.")),
      duration_(m.histogram("kueue_admission_attempt_duration_seconds", "How long such a round took.",
                            {.0001, .0005, .001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10})) {}

void AttemptMetrics::decided(const engine::Effects& effects, const Round& round) {
  if (admits(effects)) return count("success", round.took);
  if (!round.evaluated) return;
  if (round.began < collects_until_) {
    collected_ = round.took;
    return;
  }
  refresh();
  collects_until_ = round.began + kCollects;
  count("inadmissible", round.took);
}

void AttemptMetrics::refresh() {
  if (const auto took = std::exchange(collected_, std::nullopt)) count("inadmissible", *took);
}

void AttemptMetrics::count(const char* result, Duration took) {
  const MetricLabels labels{{"result", result}, {"replica_role", role_}};
  attempts_.add(labels);
  duration_.observe(labels, std::chrono::duration<double>(took).count());
}

}  // namespace berth::controller
