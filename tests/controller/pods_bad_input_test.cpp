// Groups of pods that cannot be what they claim: each ends in a clear text, and costs no more than it must.
#include <gtest/gtest.h>

#include <map>

#include "controller/pods_fixture.h"
#include "support/sanitized.h"

namespace berth::controller::pods_bad_input_test {
namespace {

using apiserver::kPods;

class BadPods : public PodsTest {
 protected:
  // A pod of group g that claims this total.
  void claims(const std::string& name, const std::string& total, const std::string& labels = "",
              const std::string& annotations = "", const std::string& cpu = "1") {
    pod(name, cpu, ", kueue.x-k8s.io/pod-group-name: g" + labels,
        ", kueue.x-k8s.io/pod-group-total-count: '" + total + "'" + annotations);
  }
  // Whether an event about the pod says this; an empty reason stands for any.
  bool says(std::string_view name, std::string_view reason, std::string_view part) {
    std::string all;
    const Json found = list(apiserver::kEvents, "default").body;
    for (const auto& one : array_at(found, {"items"})) {
      if (string_at(one, {"involvedObject", "name"}) != name) continue;
      const auto note = string_at(one, {"message"}), why = string_at(one, {"reason"});
      if ((reason.empty() || why == reason) && note.find(part) != std::string_view::npos) return true;
      all.append(why).append(": ").append(note).append("; ");
    }
    ADD_FAILURE() << name << " says " << all;
    return false;
  }
  std::uint64_t requests() const {
    std::uint64_t sum = 0;
    for (const auto& [what, count] : controller->request_counts()) sum += count;
    return sum;
  }
  // Nothing is written for pods that wait for their user.
  void rests(int seconds = 3600) {
    const std::uint64_t before = requests();
    pass(seconds);
    EXPECT_LE(requests(), before + 2) << "the same is tried again and again";
  }
  std::string running() {
    const Json found = list(kPods, "default").body;
    for (const auto& one : array_at(found, {"items"})) {
      if (array_at(one, {"spec", "schedulingGates"}).empty()) return std::string(string_at(one, {"metadata", "name"}));
    }
    ADD_FAILURE() << "no pod runs";
    return "none";
  }
  void set(const std::string& name, const std::string& part, const std::string& key, const std::string& value) {
    EXPECT_TRUE(
        patch(kPods, "default", name, R"({"metadata":{")" + part + R"(":{")" + key + R"(":")" + value + R"("}}})")
            .ok());
  }
};

TEST_F(BadPods, PodsThatDisagreeAboutTheirNumberAreReportedAndRunWhenTheyAgree) {
  claims("a", "2");
  claims("b", "3");
  pass();
  EXPECT_TRUE(says("a", "ErrWorkloadCompose", R"(pod-group-total-count: a has "2", b has "3")"));
  rests();
  EXPECT_TRUE(workloads().empty());
  set("b", "annotations", "kueue.x-k8s.io/pod-group-total-count", "2");
  pass();
  EXPECT_FALSE(gated("a"));
  EXPECT_FALSE(gated("b"));
}

TEST_F(BadPods, PodsThatDisagreeAboutTheirQueueOrPriorityAreReported) {
  claims("a", "2");
  claims("b", "2");
  set("b", "labels", "kueue.x-k8s.io/queue-name", "q2");
  pass();
  EXPECT_TRUE(says("a", "ErrWorkloadCompose", R"(queue-name: a has "q", b has "q2")"));
  rests();
  set("b", "labels", "kueue.x-k8s.io/queue-name", "q");
  set("a", "labels", "kueue.x-k8s.io/priority-class", "low");
  set("b", "labels", "kueue.x-k8s.io/priority-class", "high");
  pass();
  EXPECT_TRUE(says("a", "ErrWorkloadCompose", R"(priority-class: a has "low", b has "high")"));
  rests();
  EXPECT_TRUE(gated("a"));
  for (const char* name : {"a", "b"})
    EXPECT_TRUE(
        patch(kPods, "default", name, R"({"metadata":{"labels":{"kueue.x-k8s.io/priority-class":null}}})").ok());
  pass();
  EXPECT_FALSE(gated("a"));
}

TEST_F(BadPods, APodOfAnotherRoleIsReportedOrDeletedAsOneTooMany) {
  claims("a", "2");
  claims("b", "2");
  pass();
  claims("c", "2", "", "", "2");
  pass();
  EXPECT_FALSE(exists(kPods, "default", "c")) << "the group is complete";
  EXPECT_TRUE(reported("c", "ExcessPodDeleted"));
  EXPECT_FALSE(gated("a"));
  rests(600);
}

TEST_F(BadPods, AGroupThatNeverCompletesSaysSoAndCostsNothing) {
  claims("a", "3");
  claims("b", "3");
  pass();
  EXPECT_TRUE(says("a", "ErrWorkloadCompose", "fewer runnable pods than expected"));
  rests();
  EXPECT_TRUE(workloads().empty());
  remove(kPods, "default", "a");
  remove(kPods, "default", "b");
  pass();
  EXPECT_FALSE(exists(kPods, "default", "a")) << "nothing keeps them";
  EXPECT_FALSE(exists(kPods, "default", "b"));
}

TEST_F(BadPods, CountsThatAreNoCountsAreReported) {
  for (const std::string total : {"-1", "0", "three", "3.5", "99999999999", ""}) {
    SCOPED_TRACE(total);
    claims("a", total);
    pass();
    EXPECT_TRUE(says("a", "ErrWorkloadCompose", "is \"" + total + "\", expected the number of pods"));
    EXPECT_TRUE(gated("a"));
    rests();
    remove(kPods, "default", "a");
    pass();
    EXPECT_FALSE(exists(kPods, "default", "a"));
    EXPECT_TRUE(workloads().empty());
  }
}

TEST_F(BadPods, AHugeCountWaitsForItsPodsOrForQuotaThatNobodyHas) {
  claims("a", "2147483647");
  pass();
  EXPECT_TRUE(says("a", "ErrWorkloadCompose", "fewer runnable pods than expected"));
  rests();
  remove(kPods, "default", "a");
  pass();
  claims("fast", "2147483647", "", ", kueue.x-k8s.io/pod-group-fast-admission: 'true'");
  pass();
  EXPECT_TRUE(gated("fast"));
  EXPECT_EQ(condition(workload("g"), "QuotaReserved"), "False ExceedsMaxQuota");
  EXPECT_TRUE(says("fast", "ExceedsMaxQuota", "insufficient quota for cpu"));
  rests();
  remove(kPods, "default", "fast");
  pass(60);
  EXPECT_FALSE(exists(kPods, "default", "fast"));
  EXPECT_TRUE(workloads().empty());
}

TEST_F(BadPods, ThousandsOfPodsThatClaimAGroupOfThreeLeaveThree) {
  constexpr int kClaims = 4000 / testing_support::kFewer;
  for (int i = 0; i < kClaims; ++i) claims("p" + std::to_string(i), "3");
  pass(120);
  const Json left = list(kPods, "default").body;
  ASSERT_EQ(array_at(left, {"items"}).size(), 3u);
  for (const auto& one : array_at(left, {"items"}))
    EXPECT_TRUE(array_at(one, {"spec", "schedulingGates"}).empty()) << to_string(one);
  // One deletion and one finalizer for each pod that is too many.
  EXPECT_LE(requests(), 2u * kClaims + 100);
  rests(600);
  EXPECT_EQ(holders(), 1u);
}

// --- A pod that waits says why.

TEST_F(BadPods, AWaitingPodSaysWhatItWaitsForOnce) {
  pod("blocker", "4");
  pass();
  pod("p", "2");
  pass();
  EXPECT_TRUE(says("p", "WaitingForQuota", "Waits in LocalQueue \"q\": couldn't assign flavors to pod set main"));
  EXPECT_FALSE(reported("blocker", "WaitingForQuota"));
  pod("large", "9");
  pod("lost");
  set("lost", "labels", "kueue.x-k8s.io/queue-name", "nowhere");
  pass();
  EXPECT_TRUE(says("large", "ExceedsMaxQuota", "maximum capacity"));
  EXPECT_TRUE(says("lost", "", "Waits in LocalQueue \"nowhere\""));
}

// 1,000 pods that wait get one event each, however often the scheduler looks at them.
TEST_F(BadPods, ABurstOfWaitingPodsIsReportedOnce) {
  constexpr int kWaiting = 1000;
  pod("blocker", "4");
  pass();
  for (int i = 0; i < kWaiting; ++i) pod("p" + std::to_string(i), "4");
  pass(120);
  const auto reported_of = [&] {
    std::map<std::string, int> events;
    const Json found = list(apiserver::kEvents, "default").body;
    for (const auto& one : array_at(found, {"items"})) {
      if (string_at(one, {"reason"}) != "WaitingForQuota" || string_at(one, {"involvedObject", "kind"}) != "Pod")
        continue;
      ++events[std::string(string_at(one, {"involvedObject", "name"}))];
    }
    return events;
  };
  EXPECT_EQ(reported_of().size(), static_cast<std::size_t>(kWaiting));
  for (int i = 0; i < 5; ++i) {  // the queue moves: the pod that runs ends, another one runs
    remove(kPods, "default", running());
    pass(10);
  }
  for (const auto& [name, count] : reported_of()) EXPECT_EQ(count, 1) << name;
}

// The pods of a group get an event each, up to a limit.
TEST_F(BadPods, AWaitingGroupIsReportedOnItsPods) {
  pod("blocker", "4");
  pass();
  for (int i = 0; i < 120; ++i) claims("p" + std::to_string(i), "120", "", "", "10m");
  pass(30);
  int reported_pods = 0;
  for (int i = 0; i < 120; ++i) reported_pods += reported("p" + std::to_string(i), "WaitingForQuota") ? 1 : 0;
  EXPECT_EQ(reported_pods, 100);
}

// Kueue has no partial admission of groups, but any client may write the minimum of their workload.
TEST_F(BadPods, AGroupThatIsAdmittedInPartRunsNoMorePodsThanItHasQuotaFor) {
  pod("blocker", "3");
  pass();
  for (const char* name : {"a", "b", "c"}) claims(name, "3");
  pass();
  ASSERT_TRUE(gated("a") && gated("b") && gated("c"));
  ASSERT_TRUE(patch(api::kWorkloads, "default", "g", R"([{"op":"add","path":"/spec/podSets/0/minCount","value":1}])",
                    api::PatchType::kJson)
                  .ok());
  pass(30);
  int running = 0;
  for (const char* name : {"a", "b", "c"}) running += exists(kPods, "default", name) && !gated(name) ? 1 : 0;
  EXPECT_EQ(running, 1);
}

// The pod of a fast group whose workload waits already.
TEST_F(BadPods, APodThatJoinsAWaitingGroupIsReported) {
  pod("blocker", "4");
  pass();
  claims("first", "2", "", ", kueue.x-k8s.io/pod-group-fast-admission: 'true'");
  pass();
  ASSERT_TRUE(reported("first", "WaitingForQuota"));
  claims("second", "2", "", ", kueue.x-k8s.io/pod-group-fast-admission: 'true'");
  pass();
  EXPECT_TRUE(reported("second", "WaitingForQuota"));
}

// --- A pod with a queue name runs at once while pods are not managed.

TEST_F(BadPods, APodThatNobodyManagesIsInformedSo) {
  lead(ControllerOptions{});
  pod("p");
  make(kPods, "Pod", "default", "{metadata: {name: plain}, spec: {containers: [{name: c, image: i}]}}");
  pass();
  EXPECT_TRUE(says("p", "NotManaged", "integrations.frameworks does not list \"pod\""));
  EXPECT_FALSE(reported("plain", "NotManaged"));
}

}  // namespace
}  // namespace berth::controller::pods_bad_input_test
