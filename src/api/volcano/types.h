// Volcano's kinds as C++ values: the fields that decisions need or that Berth writes. Field names are the API's,
// defaults those of the CRDs. Decoding fails on quantities and enum values that the CRDs refuse; errors name object
// and field.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/core/pod_resources.h"
#include "api/meta.h"
#include "base/json.h"

namespace berth::api::volcano {

// --- Queue, scheduling.volcano.sh/v1beta1, cluster-scoped.

enum class QueueState : std::uint8_t {
  kNone,
  kOpen,
  kClosing,
  kClosed,
  kUnknown
};  // kNone: not written yet, counts as Open
enum class DequeueStrategy : std::uint8_t { kTraverse, kFifo };

struct QueueStatus {
  QueueState state = QueueState::kNone;
  ResourceList allocated;                                                          // includes "pods", here and below
  std::int32_t pending = 0, running = 0, unknown = 0, inqueue = 0, completed = 0;  // PodGroups of the queue by phase
  bool operator==(const QueueStatus&) const = default;
};
struct Queue {
  ObjectMeta meta;
  std::string parent;       // "": root
  ResourceList capability;  // a resource not named here has the limit of the nearest ancestor that names it
  ResourceList deserved;
  ResourceList guarantee;     // guarantee.resource
  std::int32_t weight = 1;    // 1 to 65535
  std::int32_t priority = 0;  // at least 0; higher values come first
  bool reclaimable = true;    // other queues may preempt its pods to reclaim their quota
  DequeueStrategy dequeue_strategy = DequeueStrategy::kTraverse;
  QueueStatus status;
};

// --- PodGroup, scheduling.volcano.sh/v1beta1. Its status is no subresource.

enum class TopologyMode : std::uint8_t { kHard, kSoft };
struct NetworkTopology {
  TopologyMode mode = TopologyMode::kHard;
  std::optional<std::int32_t> highest_tier_allowed;  // at most one of these two
  std::string highest_tier_name;
  bool operator==(const NetworkTopology&) const = default;
};

enum class PodGroupPhase : std::uint8_t { kNone, kPending, kInqueue, kRunning, kUnknown, kCompleted };
struct PodGroupCondition {
  std::string type;  // Unschedulable, Scheduled
  bool status = false;
  std::string transition_id, reason, message;
  Time last_transition{};
  bool operator==(const PodGroupCondition&) const = default;
};
struct PodGroupStatus {
  PodGroupPhase phase = PodGroupPhase::kNone;
  std::vector<PodGroupCondition> conditions;
  std::int32_t running = 0, succeeded = 0, failed = 0;  // pods
  bool operator==(const PodGroupStatus&) const = default;
};
struct PodGroup {
  ObjectMeta meta;
  std::int32_t min_member = 0;
  std::map<std::string, std::int32_t, std::less<>> min_task_member;
  std::optional<ResourceList> min_resources;  // none: admitted without quota
  std::string queue = "default";
  std::string priority_class_name;
  std::optional<NetworkTopology> network_topology;
  PodGroupStatus status;
};

// --- Command, bus.volcano.sh/v1alpha1: an action on `target`; the controller deletes it when it starts the action.

struct Command {
  ObjectMeta meta;
  std::string action;  // OpenQueue, CloseQueue, AbortJob, ...
  OwnerReference target;
  std::string reason, message;
};

// --- Job, batch.volcano.sh/v1alpha1.

enum class JobPhase : std::uint8_t {
  kNone,
  kPending,
  kAborting,
  kAborted,
  kRunning,
  kRestarting,
  kCompleting,
  kCompleted,
  kTerminating,
  kTerminated,
  kFailed
};
struct JobStatus {
  JobPhase phase = JobPhase::kNone;
  std::string reason, message;
  Time last_transition{};
  std::int32_t min_available = 0;
  std::int32_t pending = 0, running = 0, succeeded = 0, failed = 0, terminating = 0, unknown = 0;  // pods
  std::int32_t version = 0, retry_count = 0;
  bool operator==(const JobStatus&) const = default;
};
struct Task {
  std::string name;  // "default0" when the first task has none
  std::int32_t replicas = 0;
  std::optional<std::int32_t> min_available;  // none: all replicas
  JsonPtr template_;                          // PodTemplateSpec; never null after decoding
};
struct Job {
  ObjectMeta meta;
  std::vector<Task> tasks;
  std::string scheduler_name;
  std::optional<std::int32_t> min_available;  // none: the sum over the tasks
  std::string queue = "default";
  std::string priority_class_name;
  std::int32_t max_retry = 3;
  std::optional<NetworkTopology> network_topology;
  JobStatus status;
};

Result<Queue> decode_queue(const Json& object);
Result<PodGroup> decode_pod_group(const Json& object);
Result<Command> decode_command(const Json& object);
Result<Job> decode_job(const Json& object);

// The values of .status; empty and zero fields are left out.
Json encode_queue_status(const QueueStatus& status);
Json encode_pod_group_status(const PodGroupStatus& status);
Json encode_job_status(const JobStatus& status);

// The names in the API; "" for kNone.
std::string_view name_of(QueueState state);
std::string_view name_of(PodGroupPhase phase);
std::string_view name_of(JobPhase phase);

}  // namespace berth::api::volcano
