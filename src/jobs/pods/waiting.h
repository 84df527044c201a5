// Why the workload of pods waits, told on the pods: "kubectl describe pod" shows it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "jobs/job_facts.h"
#include "jobs/reconcile.h"

namespace berth::jobs {

// The reportingController of these events. They are Berth's own: Kueue tells it on the workload only.
inline constexpr std::string_view kWaitingController = "berth-pod-controller";
// The most pods of one group that get an event. Each event is a write, and the pods of a group wait for the same thing.
inline constexpr std::size_t kReportedPods = 100;

// The event for the pods when the workload has begun to wait, or waits for another reason or in another queue than
// before; nullopt when there is nothing new. A message that changes alone is not new: it may change with every pass of
// the scheduler. `old` may be null.
std::optional<JobEvent> waiting_news(const WorkloadPtr& old, const WorkloadPtr& now);

}  // namespace berth::jobs
