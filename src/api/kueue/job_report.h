// What a workload's job reports: the part of a workload's status that only its owner knows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/kueue/types.h"
#include "base/rare.h"

namespace berth::api::kueue {

struct JobReport {
  // The job ended, or can never run: the workload gets this Finished condition.
  struct Outcome {
    std::string reason;  // Succeeded, Failed, OutOfSync, OwnerNotFound, FailedToStart
    std::string message;
    bool operator==(const Outcome&) const = default;
  };
  Rare<Outcome> finished;

  // All pods are ready or succeeded; nullopt when the kind of job does not report it.
  std::optional<bool> pods_ready;

  // Per pod set the ended pods whose quota other workloads may use; nullopt when the report does not tell.
  std::optional<std::vector<ReclaimablePod>> reclaimable;

  // The job is suspended and has no active pods. Only such a report releases the quota of an evicted workload.
  bool stopped = false;

  // The job that stopped is being deleted: its workload is not queued again.
  bool for_good = false;

  // Whether pods of a group must be replaced before the group can run: the condition WaitingForReplacementPods. A
  // workload that never waited gets no such condition. nullopt: the kind of job has no replacement of pods.
  struct Replacement {
    bool needed = false;
    std::string reason, message;
    bool operator==(const Replacement&) const = default;
  };
  Rare<Replacement> replacement;

  // Whether the owner of the pods holds its workload back (a StatefulSet that is scaled to zero). The workload gives
  // its quota back without an eviction, once `stopped`, and is not queued. The text is the message of
  // QuotaReserved=False;
  // "": not held back. nullopt: the kind of job never holds its workload back.
  std::optional<std::string> on_hold;

  // The resourceVersion of the workload for which the report was made: a report from before the eviction does not
  // prove that the job stopped.
  std::string workload_version;

  // Why the API server refuses to start the job: the message of PodsReady=False. Null: it does not refuse.
  Rare<std::string> start_refused;

  bool operator==(const JobReport&) const = default;
};

}  // namespace berth::api::kueue
