// What feature gates change for groups of pods: when an evicted group gives its quota back, and when it is ready.
#include <gtest/gtest.h>

#include "jobs/pods/pods_support.h"

namespace berth::jobs::group_gates_test {
namespace {

using namespace pods_support;

// KEP-6143.
TEST(PodGroups, AnEvictedGroupGivesItsQuotaBackWhenItsPodsHaveEndedOrBeginToTerminate) {
  const auto workload = group_workload({member("a", 2), member("b", 2)}, kEvicted);
  const auto stopped = [&](bool fast, std::string_view b) {
    JobFacts known = facts(workload);
    known.gates.fast_quota_release = fast;
    const std::vector<ManagedPodPtr> pods{member("a", 2, {kRunning, kDeleted}), member("b", 2, {kRunning, b})};
    return all<ReportJob>(reconcile_group("ns", "g", pods, known, kNow)).at(0).report.stopped;
  };
  EXPECT_FALSE(stopped(false, kDeleted));
  EXPECT_TRUE(stopped(true, kDeleted));
  EXPECT_FALSE(stopped(true, "{}")) << "one runs on";
}

// KEP-15423: the strictest pod decides, and a pod that says nothing allows none.
TEST(PodGroups, SomePodsNeedNotBeReadyWhereAllOfThemSaySo) {
  const auto workload = group_workload({member("a", 3), member("b", 3), member("c", 3)}, kAdmitted);
  const auto allows = [](std::string_view count) {
    return "{metadata: {annotations: {kueue.x-k8s.io/pod-group-max-not-ready-count: '" + std::string(count) + "'}}}";
  };
  const auto ready = [&](std::string_view a, std::string_view b, std::string_view c, int running, bool gate = true) {
    JobFacts known = facts(workload);
    known.gates.max_not_ready = gate;
    std::vector<ManagedPodPtr> pods;
    for (const auto& [name, count] : {std::pair("a", a), std::pair("b", b), std::pair("c", c)}) {
      const std::string annotation = count.empty() ? "{}" : allows(count);
      const bool runs = static_cast<int>(pods.size()) < running;
      pods.push_back(member(name, 3, {annotation, runs ? kRunning : "{}"}));
    }
    return all<ReportJob>(reconcile_group("ns", "g", pods, known, kNow)).at(0).report.pods_ready.value();
  };
  EXPECT_FALSE(ready("", "", "", 2));
  EXPECT_TRUE(ready("1", "1", "1", 2));
  EXPECT_FALSE(ready("1", "1", "1", 2, false)) << "the gate is off";
  EXPECT_FALSE(ready("1", "1", "1", 1));
  EXPECT_TRUE(ready("2", "2", "2", 1));
  EXPECT_FALSE(ready("2", "2", "1", 1));
  EXPECT_FALSE(ready("1", "1", "", 2));
  for (const std::string_view bad : {"3", "-1", "x", "1x", "99999999999"}) EXPECT_FALSE(ready(bad, "2", "2", 2)) << bad;
}

}  // namespace
}  // namespace berth::jobs::group_gates_test
