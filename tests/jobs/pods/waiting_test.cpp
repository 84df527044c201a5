// When the pods of a workload that waits get an event, and with which text.
#include "jobs/pods/waiting.h"

#include <gtest/gtest.h>

#include "jobs/pods/pods_support.h"

namespace berth::jobs::waiting_test {
namespace {

using namespace pods_support;

std::string condition(std::string_view type, std::string_view status, std::string_view reason) {
  return "{type: " + std::string(type) + ", status: \"" + std::string(status) + "\", reason: " + std::string(reason) +
         ", message: because, lastTransitionTime: \"2026-01-01T00:00:00Z\"}";
}
const std::string kInactive = condition("QuotaReserved", "False", "Suspended");
const std::string kLacksPods = condition("WaitingForReplacementPods", "True", "PodsFailed");

WorkloadPtr workload(const std::string& conditions) {
  static const PodPlan made = group({member("a", 2), member("b", 2)});
  return stored(made, conditions);
}
std::string reported(const WorkloadPtr& old, const WorkloadPtr& now) {
  const auto news = waiting_news(old, now);
  return news ? news->reason + ": " + news->note : "";
}

TEST(Waiting, IsInformedWhenTheReasonChanges) {
  const auto waits = workload(kInactive);
  EXPECT_EQ(reported(nullptr, waits), "Suspended: Waits in LocalQueue \"q\": because");
  EXPECT_EQ(reported(waits, waits), "");
  EXPECT_EQ(reported(waits, workload(condition("QuotaReserved", "False", "WaitingForQuota"))),
            "WaitingForQuota: Waits in LocalQueue \"q\": because");
  EXPECT_EQ(reported(waits, workload(kAdmitted)), "");
}

TEST(Waiting, IsInformedOfEachQueueAndOfNone) {
  const auto in = [](std::string_view queue, std::int64_t generation, std::int64_t evaluated) {
    Workload w = *workload(condition("QuotaReserved", "False", "Misconfigured"));
    w.queue_name = queue;
    w.meta.generation = generation;
    w.status.conditions.front().observed_generation = evaluated;
    return std::make_shared<const Workload>(std::move(w));
  };
  EXPECT_EQ(reported(nullptr, in("", 1, 1)),
            "Misconfigured: Waits for a queue: its label kueue.x-k8s.io/queue-name is not set");
  EXPECT_EQ(reported(in("", 1, 1), in("r", 2, 1)), "") << "the reason is that of the former queue";
  EXPECT_EQ(reported(in("r", 2, 1), in("r", 2, 2)), "Misconfigured: Waits in LocalQueue \"r\": because");
  EXPECT_EQ(reported(in("", 1, 1), in("r", 2, 2)), "Misconfigured: Waits in LocalQueue \"r\": because");
  EXPECT_EQ(reported(in("r", 2, 2), in("r", 2, 2)), "");
}

// Its queue may be active again: the group is not evaluated before it is whole, so nothing else would tell.
TEST(Waiting, AGroupThatLostPodsSaysSo) {
  const auto waits = workload(kInactive), lacks = workload(kInactive + ", " + kLacksPods);
  EXPECT_EQ(reported(waits, lacks),
            "PodsFailed: The group waits for pods in the place of those that are gone: because");
  EXPECT_EQ(reported(lacks, lacks), "");
  EXPECT_EQ(reported(lacks, waits), "") << "it is about to be evaluated";
  EXPECT_EQ(reported(nullptr, workload(kAdmitted + ", " + kLacksPods)), "");
  EXPECT_EQ(reported(nullptr, workload(kReserved + ", " + condition("Admitted", "False", "X") + ", " + kLacksPods)),
            "X: Waits in LocalQueue \"q\": because");
}

}  // namespace
}  // namespace berth::jobs::waiting_test
