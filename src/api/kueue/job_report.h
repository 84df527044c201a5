// What a workload's job says about it: the part of a workload's status that only its owner can know.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/kueue/types.h"

namespace berth::api::kueue {

struct JobReport {
  // The job ended (or never can run): the workload gets this Finished condition.
  struct Outcome {
    std::string reason;  // Succeeded, Failed, OutOfSync, OwnerNotFound, FailedToStart
    std::string message;
    bool operator==(const Outcome&) const = default;
  };
  std::optional<Outcome> finished;

  // All pods are ready or succeeded; none when the kind of job does not tell.
  std::optional<bool> pods_ready;

  // Pods that ended and whose quota may be used by others, per pod set; none when nothing is said about them.
  std::optional<std::vector<ReclaimablePod>> reclaimable;

  // The job is suspended and no pod of it is active. Only such a report lets go of an evicted workload's
  // quota.
  bool stopped = false;

  // The resourceVersion of the workload the report was made on: a report older than the eviction proves
  // nothing.
  std::string workload_version;

  bool operator==(const JobReport&) const = default;
};

}  // namespace berth::api::kueue
