// The parts of the configuration that change decisions: readiness of pods, retention, resources.
// Defaults are those of a file that leaves the part out (v1beta2). https://kueue.sigs.k8s.io/docs/reference/kueue-config.v1beta2/
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"

namespace berth::api::config {

// waitForPodsReady: an admitted workload whose pods are not ready in time is evicted and comes back after a pause (KEP-349, KEP-1282).
struct WaitForPodsReady {
  bool enabled = true;
  Duration timeout = std::chrono::minutes(30);  // from the admission to PodsReady=True; more than 0
  // From PodsReady=False after it was True; 0: it may take any time.
  Duration recovery_timeout = std::chrono::minutes(30);
  bool block_admission = false;  // nobody is admitted while an admitted workload's pods are not ready
  enum class Timestamp : std::uint8_t { kEviction, kCreation };
  Timestamp timestamp = Timestamp::kEviction;      // what an evicted workload's place in its queue counts from
  std::optional<std::int32_t> backoff_limit_count;  // so many times it comes back, then it is deactivated; none: endlessly
  std::int32_t backoff_base_seconds = 60;           // the n-th pause is base * 2^(n-1)
  std::int32_t backoff_max_seconds = 3600;          // at most
  bool operator==(const WaitForPodsReady&) const = default;
};

// topology: Berth's own, no part of Kueue's file.
struct TopologyWaits {
  // placesTimeout: from the moment the admission checks are ready until a workload whose places were delayed has them; then it is
  // evicted and comes back after a pause. 0: it may take any time. Longer than the ten minutes that the cluster autoscaler books
  // nodes for, so that a booking that expires is told first.
  Duration places_timeout = std::chrono::minutes(15);
  bool operator==(const TopologyWaits&) const = default;
};

// objectRetentionPolicies.workloads (KEP-1618). None: workloads stay.
struct WorkloadRetention {
  std::optional<Duration> after_finished;
  std::optional<Duration> after_deactivated_by_kueue;
  bool operator==(const WorkloadRetention&) const = default;
};

// fairSharing: quota that is borrowed is shared by weight (KEP-1714). The strategies are tried in this order; at least one is on.
struct FairSharing {
  bool enabled = false;
  bool final_share = true;    // LessThanOrEqualToFinalShare
  bool initial_share = true;  // LessThanInitialShare
  bool operator==(const FairSharing&) const = default;
};

// What a quantity of one resource asked for by a pod is counted as (KEP-2937).
struct ResourceTransformation {
  std::string input;
  bool replace = false;     // strategy Replace: the input itself is not counted
  std::string multiply_by;  // each output is multiplied by what the same pod asks of this resource, if it does; "" none
  std::map<std::string, Quantity> outputs;  // per unit of the input
  bool operator==(const ResourceTransformation&) const = default;
};
// resources: what of a pod's requests counts against quota.
struct QuotaResources {
  std::vector<std::string> exclude_prefixes;
  std::vector<ResourceTransformation> transformations;  // at most one per input
  bool ignore_undeclared = false;  // quotaCheckStrategy IgnoreUndeclared: a resource that the queue does not cover is no obstacle
  bool operator==(const QuotaResources&) const = default;
};

}  // namespace berth::api::config
