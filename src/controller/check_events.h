// What the controllers of Jobs and of pods tell and wait for alike.
#pragma once

#include <chrono>
#include <string>

#include "base/time.h"
#include "jobs/job_facts.h"

namespace berth::controller {

// The checks that an eviction reset, for an event on the job; empty when there are none. As in Kueue, only for an
// active workload.
std::string reset_checks(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);

// The garbage collector of kube-controller-manager deletes what a deleted object owned within about a second.
inline constexpr Duration kGarbageCollection = std::chrono::seconds(2);

}  // namespace berth::controller
