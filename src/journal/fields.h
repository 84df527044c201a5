// The members of every type that a journal stores, in the order in which they are stored. A structured binding names
// all of them, so when a type gets a member, the compiler asks for it here. Older journals stay readable when new
// members are stored last (they have their default then). A type that declares a new member before others needs a
// fields() written out, with the binding in the order of the declaration and the tie in the order of the format.
//
// At most 60 members each. A member that goes away or changes its type needs another kFormat (frames.h).
#pragma once

#include <tuple>
#include <type_traits>

#include "api/config/policies.h"
#include "api/core/node.h"
#include "api/core/pod_resources.h"
#include "api/core/scheduling.h"
#include "api/kueue/job_report.h"
#include "api/kueue/pod_placement.h"
#include "api/kueue/types.h"
#include "api/selector.h"
#include "engine/effects.h"
#include "engine/events.h"
#include "engine/options.h"

namespace berth::journal {

#define BERTH_FIELDS(type, ...)                                                                  \
  template <typename T, std::enable_if_t<std::is_same_v<std::remove_const_t<T>, type>, int> = 0> \
  auto fields(T& value) {                                                                        \
    auto& [__VA_ARGS__] = value;                                                                 \
    return std::tie(__VA_ARGS__);                                                                \
  }
// Metadata and parts.
BERTH_FIELDS(api::OwnerReference, a, b, c, d, e, f)
BERTH_FIELDS(api::ObjectMeta, a, b, c, d, e, f, g, h, i, j, k)
BERTH_FIELDS(api::Condition, a, b, c, d, e, f, g)
BERTH_FIELDS(api::LabelRequirement, a, b, c)
BERTH_FIELDS(api::Taint, a, b, c)
BERTH_FIELDS(api::Toleration, a, b, c, d, e)
BERTH_FIELDS(api::LimitRangeItem, a, b, c, d, e, f)

// Queues and what they name.
BERTH_FIELDS(api::kueue::ResourceQuota, a, b, c, d)
BERTH_FIELDS(api::kueue::FlavorQuotas, a, b)
BERTH_FIELDS(api::kueue::ResourceGroup, a, b)
BERTH_FIELDS(api::kueue::ClusterQueue::CheckRule, a, b)
BERTH_FIELDS(api::kueue::ClusterQueue::Terms, a, b, c, d)
BERTH_FIELDS(api::kueue::ClusterQueue, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
BERTH_FIELDS(api::kueue::Cohort, a, b, c, d, e)
BERTH_FIELDS(api::kueue::LocalQueue::PastUsage, a, b)
BERTH_FIELDS(api::kueue::LocalQueue, a, b, c, d, e)
BERTH_FIELDS(api::kueue::Topology, a, b)
BERTH_FIELDS(api::kueue::ResourceFlavor, a, b, c, d, e)
BERTH_FIELDS(api::kueue::AdmissionCheck::Parameters, a, b, c)
BERTH_FIELDS(api::kueue::AdmissionCheck, a, b, c, d)

// Nodes and pods.
BERTH_FIELDS(api::Node, a, b, c, d, e, f, g)
BERTH_FIELDS(api::kueue::PodPlacement, a, b, c, d, e, f, g, h, i, j, k, l, m, n)

// Workloads.
BERTH_FIELDS(api::kueue::SliceLayer, a, b)
BERTH_FIELDS(api::kueue::TopologyRequest, a, b, c, d, e, f, g, h, i, j)
BERTH_FIELDS(api::kueue::PodSet, a, b, c, d, e)
BERTH_FIELDS(api::kueue::TopologyDomain, a, b)
BERTH_FIELDS(api::kueue::TopologyAssignment, a, b)
BERTH_FIELDS(api::kueue::PodSetAssignment, a, b, c, d, e, f)
BERTH_FIELDS(api::kueue::Admission, a, b)
BERTH_FIELDS(api::kueue::PodSetUpdate, a, b, c, d, e)
BERTH_FIELDS(api::kueue::AdmissionCheckState, a, b, c, d, e, f, g)
BERTH_FIELDS(api::kueue::RequeueState, a, b)
BERTH_FIELDS(api::kueue::ReclaimablePod, a, b)
BERTH_FIELDS(api::kueue::PodSetRequest, a, b)
BERTH_FIELDS(api::kueue::EvictionCount, a, b, c)
BERTH_FIELDS(api::kueue::PreemptionGate, a, b, c)
BERTH_FIELDS(api::kueue::WorkloadStatus, a, b, c, d, e, f, g, h, i, j, k, l, m)
BERTH_FIELDS(api::kueue::PriorityClassRef, a, b, c)
BERTH_FIELDS(api::kueue::Workload, a, b, c, d, e, f, g, h, i)
BERTH_FIELDS(api::kueue::JobReport::Outcome, a, b)
BERTH_FIELDS(api::kueue::JobReport::Replacement, a, b, c)
BERTH_FIELDS(api::kueue::JobReport, a, b, c, d, e, f, g, h, i)

BERTH_FIELDS(api::kueue::DeviceCharge::PodSet, a, b, c, d)
BERTH_FIELDS(api::kueue::DeviceCharge, a, b, c)

// The engine's options.
BERTH_FIELDS(api::config::WaitForPodsReady, a, b, c, d, e, f, g, h, i, j, k)
BERTH_FIELDS(api::config::TopologyWaits, a)
BERTH_FIELDS(api::config::WorkloadRetention, a, b)
BERTH_FIELDS(api::config::FairSharing, a, b, c)
BERTH_FIELDS(api::config::AdmissionFairSharing, a, b, c, d)
BERTH_FIELDS(api::config::ResourceTransformation, a, b, c, d)
BERTH_FIELDS(api::config::QuotaResources, a, b, c)
BERTH_FIELDS(engine::TopologyOptions, a, b, c, d, e, f, g, h, i)
BERTH_FIELDS(engine::Options, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac,
             ad)

// Events. Those with an object store only the object.
BERTH_FIELDS(engine::NamespaceSeen, a, b)
BERTH_FIELDS(engine::LimitRangeSeen, a, b, c)
BERTH_FIELDS(engine::LimitRangeGone, a, b)
BERTH_FIELDS(engine::RuntimeClassSeen, a, b)
BERTH_FIELDS(engine::WriteSettled, a, b, c, d)
BERTH_FIELDS(engine::UsageRecord::Number, a, b)
BERTH_FIELDS(engine::UsageRecord::Line, a, b, c)
BERTH_FIELDS(engine::UsageRecord::Used, a, b)
BERTH_FIELDS(engine::UsageRecord::Account, a, b, c, d, e, f, g, h, i, j, k)
BERTH_FIELDS(engine::UsageRecord::Charge, a, b)
BERTH_FIELDS(engine::UsageRecord::Claim, a, b, c)
BERTH_FIELDS(engine::UsageRecord, a, b, c)
BERTH_FIELDS(engine::UsageRecalled, a)
BERTH_FIELDS(engine::DevicesCounted, a, b, c, d)
BERTH_FIELDS(engine::NodeDevicesSeen, a, b)
BERTH_FIELDS(engine::DevicesTaken, a, b, c, d, e)
BERTH_FIELDS(engine::DispatchReported, a, b, c, d, e, f)

// Effects, for their checksum.
BERTH_FIELDS(engine::RecordEvent, a, b, c, d, e, f, g, h, i)
BERTH_FIELDS(engine::ClusterQueueStatusChanged, a)
BERTH_FIELDS(engine::LocalQueueStatusChanged, a, b)
BERTH_FIELDS(engine::CohortStatusChanged, a)
BERTH_FIELDS(engine::SetFinalizer, a, b, c)
BERTH_FIELDS(engine::WakeAt, a)

#undef BERTH_FIELDS

// The last value of each enumeration: no other number may become one.
template <typename T>
inline constexpr T kLast = T{};
template <>
inline constexpr auto kLast<api::kueue::StopPolicy> = api::kueue::StopPolicy::kHoldAndDrain;
template <>
inline constexpr auto kLast<api::kueue::QueueingStrategy> = api::kueue::QueueingStrategy::kStrictFifo;
template <>
inline constexpr auto kLast<api::kueue::FungibilityPolicy> = api::kueue::FungibilityPolicy::kTryNextFlavor;
template <>
inline constexpr auto kLast<api::kueue::FungibilityPreference> =
    api::kueue::FungibilityPreference::kPreemptionOverBorrowing;
template <>
inline constexpr auto kLast<api::kueue::ReclaimWithinCohort> = api::kueue::ReclaimWithinCohort::kAny;
template <>
inline constexpr auto kLast<api::kueue::BorrowWithinCohort> = api::kueue::BorrowWithinCohort::kLowerPriority;
template <>
inline constexpr auto kLast<api::kueue::WithinClusterQueue> =
    api::kueue::WithinClusterQueue::kLowerOrNewerEqualPriority;
template <>
inline constexpr auto kLast<api::kueue::DelayedTopology> = api::kueue::DelayedTopology::kReady;
template <>
inline constexpr auto kLast<api::kueue::CheckState> = api::kueue::CheckState::kRejected;
template <>
inline constexpr auto kLast<api::LabelRequirement::Op> = api::LabelRequirement::Op::kLessThan;
template <>
inline constexpr auto kLast<api::config::WaitForPodsReady::Timestamp> =
    api::config::WaitForPodsReady::Timestamp::kCreation;
template <>
inline constexpr auto kLast<engine::WriteSettled::Outcome> = engine::WriteSettled::Outcome::kFailed;

template <typename T>
concept Described = requires(T& value) { fields(value); };

}  // namespace berth::journal
