#include "jobs/elastic.h"

#include <algorithm>

#include "api/kueue/names.h"

namespace berth::jobs {

using api::kueue::kElasticJob;
using api::kueue::PodSet;
using api::kueue::Workload;

bool is_resized(const JobAdapter& adapter, const Json& job, const Workload& workload) {
  if (string_at(job, {"metadata", "annotations", kElasticJob}) != "true") return false;
  const auto pod_sets = adapter.pod_sets(job);
  return !std::ranges::equal(pod_sets, workload.pod_sets,
                             [](const PodSet& a, const PodSet& b) { return a.name == b.name && a.count == b.count; });
}

JobEvent stopped_for_its_size(const JobAdapter& adapter) {
  const std::string why = adapter.may_be_elastic()
                              ? "the feature gate ElasticJobsViaWorkloadSlices is not enabled"
                              : "elastic jobs of the kind " + adapter.kind().kind + " are not supported";
  return {true, "ElasticJobStopped",
          "The size of the elastic job changed while it ran. All its pods are stopped, and it is queued again with the "
          "new size, because " +
              why + "; suspend such a job before you change its size"};
}

}  // namespace berth::jobs
