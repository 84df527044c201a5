// What a PodGroup is charged before it is admitted, while it runs, and when it must stop.
#include "volcano/group_workloads.h"

#include <gmock/gmock.h>

#include <limits>

#include "volcano/support.h"

namespace berth::volcano::group_workloads_test {
namespace {

using api::kueue::Workload;
using api::kueue::WorkloadStatus;
using api::volcano::PodGroup;
using api::volcano::PodGroupPhase;
using testing::resources;

PodGroup group(PodGroupPhase phase, std::optional<std::string_view> min_resources = "cpu=4,nvidia.com/gpu=2",
               int min_member = 2) {
  PodGroup g;
  g.meta.name = "g";
  g.meta.ns = "team";
  g.meta.uid = "u";
  g.queue = "q";
  g.min_member = min_member;
  if (min_resources) g.min_resources = resources(*min_resources);
  g.status.phase = phase;
  return g;
}
GroupContext running(std::string_view text, bool minimum_held = false) {
  GroupContext context;
  context.priority = 7;
  context.running = resources(text);
  context.minimum_held = minimum_held;
  return context;
}

// The amounts that an admitted workload holds.
std::string charge(const std::optional<Workload>& workload) {
  if (!workload || !workload->status.admission) return "";
  api::ResourceList sum;
  for (const auto& each : workload->status.admission->pod_set_assignments)
    for (const auto& [resource, amount] : each.resource_usage) {
      EXPECT_EQ(each.flavors.at(resource), "volcano");
      sum[resource] = sum.contains(resource) ? sum[resource] + amount : amount;
    }
  std::string out;
  for (const auto& [resource, amount] : sum) out += (out.empty() ? "" : ",") + resource + "=" + amount.to_string();
  return out;
}

TEST(VolcanoGroups, WaitWithTheirMinimum) {
  for (const auto phase : {PodGroupPhase::kNone, PodGroupPhase::kPending}) {
    const auto [minimum, surplus] = workloads_of(group(phase), running(""));
    ASSERT_TRUE(minimum);
    EXPECT_FALSE(surplus);
    EXPECT_EQ(minimum->status, WorkloadStatus());
    EXPECT_EQ(minimum->queue_name, "q");
    EXPECT_EQ(minimum->priority, 7);
    ASSERT_EQ(minimum->pod_sets.size(), 2u);  // two pods, and all resources in one of them
    EXPECT_EQ(api::pod_requests(*find(*minimum->pod_sets[0].template_, "spec")), resources("cpu=4,nvidia.com/gpu=2"));
    EXPECT_EQ(minimum->pod_sets[1].count, 1);
    EXPECT_EQ(api::pod_requests(*find(*minimum->pod_sets[1].template_, "spec")), api::ResourceList());
  }
}

TEST(VolcanoGroups, AreChargedNothingForLessThanNothing) {
  const auto [minimum, surplus] =
      workloads_of(group(PodGroupPhase::kRunning, "cpu=-1,memory=1Gi"), running("cpu=1,pods=1"));
  EXPECT_EQ(charge(minimum), "memory=1Gi,pods=2");
  EXPECT_EQ(charge(surplus), "cpu=1");
}

TEST(VolcanoGroups, AreChargedTheirMinimumAndWhatRunsAboveIt) {
  const auto all = group(PodGroupPhase::kRunning);
  for (const char* used : {"", "cpu=1,pods=1", "cpu=4,nvidia.com/gpu=2,pods=2"}) {
    const auto [minimum, surplus] = workloads_of(all, running(used));
    EXPECT_EQ(charge(minimum), "cpu=4,nvidia.com/gpu=2,pods=2");
    EXPECT_FALSE(surplus) << used;
  }
  const auto [minimum, surplus] = workloads_of(all, running("cpu=10,memory=1Gi,nvidia.com/gpu=1,pods=5"));
  EXPECT_EQ(charge(minimum), "cpu=4,nvidia.com/gpu=2,pods=2");
  EXPECT_EQ(charge(surplus), "cpu=6,memory=1Gi,pods=3");
  EXPECT_EQ(surplus->priority, std::numeric_limits<std::int32_t>::min());  // preempted first
  EXPECT_NE(surplus->meta.uid, minimum->meta.uid);
  // Fewer pods than the group needs, which request more than minResources: no pod is above the minimum.
  EXPECT_EQ(charge(workloads_of(all, running("cpu=9,pods=1")).surplus), "cpu=5");
}

TEST(VolcanoGroups, WithoutMinResourcesOnlyWhatRunsIsCharged) {
  EXPECT_FALSE(workloads_of(group(PodGroupPhase::kPending, std::nullopt), running("")).minimum);
  const auto [minimum, surplus] = workloads_of(group(PodGroupPhase::kRunning, std::nullopt), running("cpu=3,pods=3"));
  EXPECT_FALSE(minimum);
  EXPECT_EQ(charge(surplus), "cpu=3,pods=3");
}

TEST(VolcanoGroups, WhatRunsThoughItWasNotLetInIsSurplus) {
  const auto waiting = group(PodGroupPhase::kPending);
  EXPECT_EQ(charge(workloads_of(waiting, running("cpu=2,pods=1")).surplus), "cpu=2,pods=1");
  EXPECT_FALSE(workloads_of(waiting, running("cpu=2,pods=1", true)).surplus);  // the minimum still holds its quota
  const auto done = workloads_of(group(PodGroupPhase::kCompleted), running(""));
  EXPECT_FALSE(done.minimum || done.surplus);
  EXPECT_EQ(charge(workloads_of(group(PodGroupPhase::kCompleted), running("cpu=1,pods=1")).surplus), "cpu=1,pods=1");
}

// The growth asks for quota like any workload, after all others, and only when the group is admitted.
TEST(VolcanoGroups, GrowByThePodThatAsksNext) {
  const GatedPod pod{"p", Time(std::chrono::seconds(5)), resources("cpu=2")};
  EXPECT_FALSE(growth_of(group(PodGroupPhase::kPending), running(""), pod));
  EXPECT_FALSE(growth_of(group(PodGroupPhase::kCompleted), running(""), pod));
  const auto growth = growth_of(group(PodGroupPhase::kRunning), running(""), pod);
  ASSERT_TRUE(growth);
  EXPECT_EQ(growth->status, WorkloadStatus());
  EXPECT_EQ(growth->priority, std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(growth->meta.creation, pod.creation);
  ASSERT_EQ(growth->pod_sets.size(), 1u);
  EXPECT_EQ(growth->pod_sets[0].count, 1);
  EXPECT_EQ(api::pod_requests(*find(*growth->pod_sets[0].template_, "spec")), resources("cpu=2"));
  EXPECT_NE(growth->meta.uid, growth_of(group(PodGroupPhase::kRunning), running(""), {"q", {}, {}})->meta.uid);
}

// Quota that pods of the minimum no longer use belongs to the group: a new pod need not ask for it.
TEST(VolcanoGroups, GrowIntoTheMinimumOnceItsPodsHaveEnded) {
  const GatedPod pod{"p", {}, resources("cpu=2")};
  PodGroup all = group(PodGroupPhase::kRunning, "cpu=4", 2);
  EXPECT_FALSE(is_covered(all, running("cpu=2,pods=1"), pod)) << "one of them has yet to come";
  all.status.succeeded = 1;
  GroupContext context = running("cpu=2,pods=1");
  context.bound = 1;
  EXPECT_TRUE(is_covered(all, context, pod));
  EXPECT_FALSE(growth_of(all, context, pod));
  EXPECT_FALSE(is_covered(all, context, {"p", {}, resources("cpu=3")})) << "more than was left";
  EXPECT_FALSE(is_covered(all, context, {"p", {}, resources("cpu=1,memory=1Gi")}));
  context.running = resources("cpu=1,pods=2");
  EXPECT_FALSE(is_covered(all, context, pod)) << "as many as were asked for run";
  all.status.phase = PodGroupPhase::kPending;
  context.running = {};
  EXPECT_FALSE(is_covered(all, context, pod));
}

TEST(VolcanoGroups, NamesLeadBack) {
  const PodGroup g = group(PodGroupPhase::kPending);
  EXPECT_EQ(group_of_workload(workload_name(g.meta, Part::kMinimum)), (GroupRef{"team", "g", Part::kMinimum}));
  EXPECT_EQ(group_of_workload(workload_name(g.meta, Part::kSurplus)), (GroupRef{"team", "g", Part::kSurplus}));
  EXPECT_EQ(group_of_workload(workload_name(g.meta, Part::kGrowth)), (GroupRef{"team", "g", Part::kGrowth}));
  EXPECT_FALSE(group_of_workload("job-a"));
}

WorkloadStatus status(std::initializer_list<std::string_view> true_conditions) {
  WorkloadStatus out;
  for (const auto type : true_conditions)
    out.conditions.push_back({.type = std::string(type), .status = true, .reason = "r", .message = {}});
  return out;
}

TEST(VolcanoGroups, BecomeInqueueWhenTheyAreLetIn) {
  const WorkloadStatus waits, admitted = status({"QuotaReserved", "Admitted"}), reserved = status({"QuotaReserved"});
  const auto none = group(PodGroupPhase::kNone), pending = group(PodGroupPhase::kPending),
             inqueue = group(PodGroupPhase::kInqueue);
  EXPECT_EQ(duty_of(none, running(""), &waits, nullptr), (GroupDuty{.phase = PodGroupPhase::kPending}));
  EXPECT_EQ(duty_of(pending, running(""), &waits, nullptr), GroupDuty());
  EXPECT_EQ(duty_of(pending, running(""), &reserved, nullptr), GroupDuty());
  EXPECT_EQ(duty_of(pending, running(""), &admitted, nullptr), (GroupDuty{.phase = PodGroupPhase::kInqueue}));
  EXPECT_EQ(duty_of(inqueue, running(""), &admitted, nullptr), GroupDuty());
  EXPECT_EQ(duty_of(group(PodGroupPhase::kRunning), running("cpu=4,pods=2"), &admitted, nullptr),
            // Berth does not write the phase Running.
            GroupDuty());
  EXPECT_EQ(duty_of(group(PodGroupPhase::kPending, std::nullopt), running(""), nullptr, nullptr),
            (GroupDuty{.phase = PodGroupPhase::kInqueue}));
}

TEST(VolcanoGroups, GiveWay) {
  const WorkloadStatus admitted = status({"QuotaReserved", "Admitted"}),
                       evicted = status({"QuotaReserved", "Admitted", "Evicted"});
  const auto runs = group(PodGroupPhase::kRunning), pending = group(PodGroupPhase::kPending);
  EXPECT_EQ(duty_of(runs, running("cpu=9,pods=4"), &admitted, &evicted),
            (GroupDuty{.phase = {}, .stop_surplus = true}));
  EXPECT_EQ(duty_of(runs, running("cpu=9,pods=4"), &evicted, &admitted),
            (GroupDuty{.phase = PodGroupPhase::kPending, .stop_all = true}));
  EXPECT_EQ(duty_of(pending, running("cpu=1,pods=1", true), &evicted, nullptr),
            (GroupDuty{.phase = {}, .stop_all = true}));
  EXPECT_EQ(duty_of(pending, running("", true), &evicted, nullptr), (GroupDuty{.phase = {}, .stopped = true}));
  EXPECT_EQ(duty_of(group(PodGroupPhase::kCompleted), running(""), &evicted, nullptr), GroupDuty());
}

}  // namespace
}  // namespace berth::volcano::group_workloads_test
