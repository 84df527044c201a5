// PodGroups as workloads of the engine. Volcano lets a group in when its minResources fit, and its pods may become more
// than that afterwards: so a group is charged in two parts. The minimum waits, is admitted and gives way as any
// workload. The surplus is what runs above it: it is charged as it is seen, and whoever wants quota back gets that
// first. Pods above the minimum that carry the gate scheduling.volcano.sh/queue-allocation-gate ask before they run, one
// after the other: the growth of the group is the next of them, and belongs to the surplus once it is let go.
//
// These workloads are never written to the API server. Their state is the PodGroup's phase and its pods; all parts are
// made anew from these after a restart.
#pragma once

#include <optional>
#include <string>

#include "api/kueue/types.h"
#include "api/volcano/types.h"
#include "volcano/quota_tree.h"

namespace berth::volcano {

// The names of a group's workloads in kGroupNamespace, and back. No LimitRange concerns them there: a minimum is a sum
// over pods.
enum class Part : std::uint8_t { kMinimum, kSurplus, kGrowth };
std::string workload_name(const api::ObjectMeta& group, Part part);
struct GroupRef {
  std::string ns, name;
  Part part = Part::kMinimum;
  bool operator==(const GroupRef&) const = default;
};
std::optional<GroupRef> group_of_workload(std::string_view workload_name);  // nothing: not such a name

// What is known about a group beside its object.
struct GroupContext {
  std::int32_t priority = 0;  // of its PriorityClass
  // What its pods request that are bound, or let go to be, and have not ended; "pods" says how many.
  api::ResourceList running;
  std::int64_t bound = 0;     // how many of its pods are bound and have not ended
  bool minimum_held = false;  // the engine holds quota for the minimum, whatever the phase says: it has yet to stop
  std::string flavor = "volcano";  // TreeOptions::flavor
  Time now{};  // from which on its pods are waited for, when it is charged without having been let in here
};

// None: the group is charged for no such part. What the surplus is depends on `minimum_held`, the minimum does not.
std::optional<api::kueue::Workload> minimum_of(const api::volcano::PodGroup& group, const GroupContext& context);
std::optional<api::kueue::Workload> surplus_of(const api::volcano::PodGroup& group, const GroupContext& context);
// `pod`: the next that asks, with what it requests. None while the group itself waits, and for one that is covered.
struct GatedPod {
  std::string uid;
  Time creation{};
  api::ResourceList requests;
};
std::optional<api::kueue::Workload> growth_of(const api::volcano::PodGroup& group, const GroupContext& context,
                                              const GatedPod& pod);
// The minimum of a group whose pods have come has room for the pod, as some of them have ended: it need not ask.
bool is_covered(const api::volcano::PodGroup& group, const GroupContext& context, const GatedPod& pod);
struct GroupWorkloads {
  std::optional<api::kueue::Workload> minimum, surplus;
};
GroupWorkloads workloads_of(const api::volcano::PodGroup& group, const GroupContext& context);

// What is to be done about a group, given what the engine decided about its parts (null: there is no such part).
struct GroupDuty {
  std::optional<api::volcano::PodGroupPhase> phase;  // to be written: Inqueue once let in, Pending while it waits
  bool stop_all = false;                             // its minimum has to give way: all its pods are to be deleted
  bool stop_surplus = false;                         // pods above the minimum are to be deleted
  bool stopped = false;                              // what had to stop has: the engine is to be told so (JobReported)
  bool operator==(const GroupDuty&) const = default;
};
GroupDuty duty_of(const api::volcano::PodGroup& group, const GroupContext& context,
                  const api::kueue::WorkloadStatus* minimum, const api::kueue::WorkloadStatus* surplus);

}  // namespace berth::volcano
