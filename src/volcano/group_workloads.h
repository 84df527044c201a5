// PodGroups as workloads of the engine. Volcano admits a group when its minResources fit, and the group may use more
// than that later. So a group is charged in parts:
// - The minimum waits, is admitted and is preempted like any workload.
// - The surplus is what runs above the minimum. It is charged as soon as it is seen, and it is preempted first, in
// parts
//   (surplus_parts.h).
// - The growth is the next pod above the minimum that asks before it runs: pods with the gate
//   scheduling.volcano.sh/queue-allocation-gate ask one after the other. Once ungated, the pod belongs to the
//   surplus.
//
// These workloads are never written to the API server. Their state is the PodGroup's phase and its pods; after a
// restart, all parts are built again from these.
#pragma once

#include <optional>
#include <string>

#include "api/kueue/types.h"
#include "api/volcano/types.h"
#include "volcano/quota_tree.h"

namespace berth::volcano {

// The names of a group's workloads in kGroupNamespace, and the reverse. No LimitRange applies in that namespace: a
// minimum is a sum over pods.
enum class Part : std::uint8_t { kMinimum, kSurplus, kGrowth };
std::string workload_name(const api::ObjectMeta& group, Part part);  // of the first part of the surplus
struct GroupRef {
  std::string ns, name;
  Part part = Part::kMinimum;
  std::size_t index = 0;  // of the part of the surplus
  bool operator==(const GroupRef&) const = default;
};
std::optional<GroupRef> group_of_workload(std::string_view workload_name);  // nullopt: not such a name

// What is known about a group besides its object.
struct GroupContext {
  std::int32_t priority = 0;  // the value of its PriorityClass
  // The sum of the requests of its pods that are bound, or ungated with quota, and have not ended. "pods" is their
  // number.
  api::ResourceList running;
  std::int64_t bound = 0;  // number of its pods that are bound and have not ended
  bool devices = false;    // a pod that is not bound claims devices, which nobody counts
  // The engine holds quota for the minimum, whatever the phase says: the group must still stop.
  bool minimum_held = false;
  std::string flavor = "volcano";  // TreeOptions::flavor
  // The time from which its pods are waited for, when the group is charged but was not admitted by this process.
  Time now{};
};

// nullopt: the group is not charged for this part. The surplus depends on `minimum_held`, the minimum does not.
std::optional<api::kueue::Workload> minimum_of(const api::volcano::PodGroup& group, const GroupContext& context);
std::optional<api::kueue::Workload> surplus_of(const api::volcano::PodGroup& group, const GroupContext& context);
// A part of the surplus `whole`, with these resources for so many pods.
api::kueue::Workload numbered_part(const api::kueue::Workload& whole, std::size_t index,
                                   const api::ResourceList& resources, std::int64_t pods);
// `pod`: the next pod that asks for quota, with its requests. growth_of() returns nullopt while the group itself
// waits, and for a pod that the minimum covers.
struct GatedPod {
  std::string uid;
  Time creation{};
  api::ResourceList requests;
};
std::optional<api::kueue::Workload> growth_of(const api::volcano::PodGroup& group, const GroupContext& context,
                                              const GatedPod& pod);
// Whether the minimum covers the pod, so that it need not ask: all pods of the minimum have come, and some have
// ended.
bool is_covered(const api::volcano::PodGroup& group, const GroupContext& context, const GatedPod& pod);
struct GroupWorkloads {
  std::optional<api::kueue::Workload> minimum, surplus;
};
GroupWorkloads workloads_of(const api::volcano::PodGroup& group, const GroupContext& context);

// What must be done about a group after the engine's decisions about its parts (null: there is no such part).
// `surplus`: of an evicted part of it, if there is one.
struct GroupDuty {
  // The phase to write: Inqueue once admitted, Pending while waiting. nullopt: no change.
  std::optional<api::volcano::PodGroupPhase> phase;
  // The minimum is evicted: delete all pods of the group.
  bool stop_all = false;
  // A part of the surplus is evicted: delete as many of the newest pods.
  bool stop_surplus = false;
  // Everything that had to stop has stopped: report it to the engine (JobReported).
  bool stopped = false;
  bool operator==(const GroupDuty&) const = default;
};
GroupDuty duty_of(const api::volcano::PodGroup& group, const GroupContext& context,
                  const api::kueue::WorkloadStatus* minimum, const api::kueue::WorkloadStatus* surplus);

}  // namespace berth::volcano
