// The labels and annotations of its pods that the workload of a group copies.
#pragma once

#include <string>
#include <vector>

#include "api/meta.h"
#include "base/result.h"
#include "jobs/job_facts.h"
#include "jobs/pods/managed_pod.h"

namespace berth::jobs {

struct CopiedMetadata {
  api::StringMap labels, annotations;
};
// Of the keys that `facts` names. It suffices that one pod has a value; fails when two pods have different ones.
Result<CopiedMetadata> copied_metadata(const std::string& group, const std::vector<ManagedPodPtr>& pods,
                                       const JobFacts& facts);

}  // namespace berth::jobs
