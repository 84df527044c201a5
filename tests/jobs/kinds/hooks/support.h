// Starts and stops for the tests of hooks.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/merge_patch.h"
#include "jobs/kinds/support.h"

namespace berth::jobs::kinds::support {

inline Json started(const DescribedJob& adapter, const Json& job) {
  const auto result = adapter.started(job, infos_for(adapter.pod_sets(job)));
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? *result : job;
}

// All requests of a stop, played.
inline Json stopped(const DescribedJob& adapter, Json job, const std::vector<api::kueue::PodSet>& pod_sets) {
  for (int i = 0; i < 5; ++i) {
    const auto patch = adapter.next_stop(job, pod_sets);
    if (!patch) break;
    job = apply_merge_patch(job, patch->body);
  }
  return job;
}

// Empty when a job that started and stopped is what it was.
inline std::string difference_after_a_stop(const DescribedJob& adapter, const Json& job) {
  const auto pod_sets = adapter.pod_sets(job);
  const Json running = started(adapter, job);
  if (adapter.suspended(running)) return "it does not run";
  if (names_and_counts(adapter.pod_sets(running)) != names_and_counts(pod_sets)) return "other pod sets run";
  const Json after = stopped(adapter, running, pod_sets);
  return canonical_json(after) == canonical_json(job) ? "" : canonical_json(after);
}

// "" when the job has pod sets that a workload can have.
inline std::string problem(const DescribedJob& adapter, const Json& job) {
  const auto checked = adapter.check_pod_sets(job);
  return checked ? std::string() : checked.error().message;
}

}  // namespace berth::jobs::kinds::support
