// The parts of the configuration that change decisions: readiness of pods, retention, resources. Defaults are those
// of a v1beta2 file without the part. https://kueue.sigs.k8s.io/docs/reference/kueue-config.v1beta2/
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"

namespace berth::api::config {

// waitForPodsReady: an admitted workload whose pods are not ready in time is evicted and requeued after a backoff
// (KEP-349, KEP-1282).
struct WaitForPodsReady {
  bool enabled = true;
  Duration timeout = std::chrono::minutes(30);  // from the admission to PodsReady=True; more than 0
  // From PodsReady=False after it was True; 0: no limit.
  Duration recovery_timeout = std::chrono::minutes(30);
  bool block_admission = false;  // admits no workload while the pods of an admitted workload are not ready
  enum class Timestamp : std::uint8_t { kEviction, kCreation };
  Timestamp timestamp = Timestamp::kEviction;  // the time by which an evicted workload is ordered in its queue
  // Number of requeues before the workload is deactivated; none: no limit.
  std::optional<std::int32_t> backoff_limit_count;
  std::int32_t backoff_base_seconds = 60;   // the n-th backoff is base * 2^(n-1)
  std::int32_t backoff_max_seconds = 3600;  // upper bound of a backoff
  // maxTimeoutOnWorkload: no job may ask for longer times of its own (KEP-4803); at least 1 s.
  Duration max_timeout_on_workload = std::chrono::hours(2);
  // Gate WorkloadLevelWaitForPodsReady: the annotation of a workload goes before `timeout` and `recovery_timeout`, also
  // where `enabled` is off in a v1beta1 file.
  bool times_of_workloads = false;
  // unscheduledTimeout (KEP-13502): from admission until all pods have nodes; at most `timeout`. None or 0: not
  // limited.
  std::optional<Duration> unscheduled_timeout{};
  bool limits_scheduling() const { return enabled && unscheduled_timeout.value_or(Duration(0)) > Duration(0); }
  bool operator==(const WaitForPodsReady&) const = default;
};

// topology: a part of Berth, not in Kueue's file.
struct TopologyWaits {
  // placesTimeout: how long a workload with a delayed topology assignment may wait for it after its admission checks
  // are ready; then it is evicted and requeued after a backoff. 0: no limit. The default is longer than the ten
  // minutes for which the cluster autoscaler books nodes, so that an expired booking is reported first.
  Duration places_timeout = std::chrono::minutes(15);
  bool operator==(const TopologyWaits&) const = default;
};

// ownerlessWorkloads: a part of Berth, not in Kueue's file.
struct OwnerlessWorkloads {
  // evictionTimeout: how long an evicted workload without an owner keeps its quota while the client that runs its
  // pods stops them; then it gives the quota back. 0: no limit.
  Duration eviction_timeout = std::chrono::minutes(5);
  bool operator==(const OwnerlessWorkloads&) const = default;
};

// objectRetentionPolicies.workloads (KEP-1618). None: workloads are kept.
struct WorkloadRetention {
  std::optional<Duration> after_finished;
  std::optional<Duration> after_deactivated_by_kueue;
  bool operator==(const WorkloadRetention&) const = default;
};

// fairSharing: borrowed quota is shared by weight (KEP-1714). Preemption strategies apply in this order; at least one
// is on.
struct FairSharing {
  bool enabled = false;
  bool final_share = true;    // LessThanOrEqualToFinalShare
  bool initial_share = true;  // LessThanInitialShare
  bool operator==(const FairSharing&) const = default;
};

// admissionFairSharing: local queues that used less lately go first, in the cluster queues that ask for it (KEP-4136).
struct AdmissionFairSharing {
  bool enabled = false;
  // usageHalfLifeTime: after this time, past usage counts half. 0: past usage does not count.
  Duration half_life{};
  // usageSamplingInterval: how often the status tells the usage, and how long a workload counts from the beginning;
  // more than 0.
  Duration sampling_interval = std::chrono::minutes(5);
  std::map<std::string, Quantity> resource_weights;  // not negative; 1 for resources that are not named
  bool operator==(const AdmissionFairSharing&) const = default;
};

// Converts a pod's request of one resource into other resources before it counts against quota (KEP-2937).
struct ResourceTransformation {
  std::string input;
  bool replace = false;     // strategy Replace: the input itself does not count
  std::string multiply_by;  // each output is multiplied by the pod's request of this resource, if any; "" none
  std::map<std::string, Quantity> outputs;  // per unit of the input
  bool operator==(const ResourceTransformation&) const = default;
};
// resources: which of a pod's requests count against quota.
struct QuotaResources {
  std::vector<std::string> exclude_prefixes;
  std::vector<ResourceTransformation> transformations;  // at most one per input
  // quotaCheckStrategy IgnoreUndeclared: a resource that the cluster queue does not cover does not block admission.
  bool ignore_undeclared = false;
  bool operator==(const QuotaResources&) const = default;
};

}  // namespace berth::api::config
