// Slices of elastic jobs (KEP-77) for tests.
#pragma once

#include <string>
#include <utility>

#include "engine/support/build.h"

namespace berth::engine::test {

// `w` as a slice of the Job "job", whose first slice is "a". `replaces`: the slice before it; empty: none.
inline Workload as_slice(Workload w, const std::string& replaces) {
  w.meta.labels["kueue.x-k8s.io/job-uid"] = "job";
  w.meta.owners = {{"batch/v1", "Job", "job", "job", true, true}};
  w.meta.annotations["kueue.x-k8s.io/elastic-job"] = "true";
  w.meta.annotations["kueue.x-k8s.io/workload-slice-name"] = "a";
  if (!replaces.empty()) w.meta.annotations["kueue.x-k8s.io/workload-slice-replacement-for"] = "ns/" + replaces;
  return w;
}

}  // namespace berth::engine::test
