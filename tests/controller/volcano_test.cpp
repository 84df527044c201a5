// Volcano's objects next to Kueue's: installed later or not at all, reserved names, and what a restart keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/volcano_objects.h"

namespace berth::controller::volcano_test {
namespace {

TEST_F(VolcanoObjects, AreNotWaitedForAndAreServedOnceTheyAreInstalled) {
  EXPECT_TRUE(controller->synced());
  EXPECT_TRUE(controller->leading());
  install_volcano();
  EXPECT_EQ(string_at(get(api::kVolcanoQueues, "", "root").body, {"status", "state"}), "Open");
  EXPECT_FALSE(bool_at(get(api::kVolcanoQueues, "", "root").body, {"spec", "reclaimable"}, true));
  EXPECT_EQ(string_at(get(api::kVolcanoQueues, "", "default").body, {"spec", "parent"}), "root");
  group("g", "default", 1, 4);
  pass();
  EXPECT_EQ(phase("g"), "Inqueue");
  EXPECT_EQ(allocated("default"), "4");
  EXPECT_EQ(allocated("root"), "4");
}

TEST_F(VolcanoObjects, ThatAlwaysExistComeBack) {
  install_volcano();
  for (const char* name : {"root", "default"}) {
    const std::string uid(string_at(get(api::kVolcanoQueues, "", name).body, {"metadata", "uid"}));
    ASSERT_TRUE(remove(api::kVolcanoQueues, "", name).ok());
    pass();
    const Json again = get(api::kVolcanoQueues, "", name).body;
    EXPECT_EQ(string_at(again, {"status", "state"}), "Open") << name;
    EXPECT_NE(string_at(again, {"metadata", "uid"}), uid);
  }
}

// Nobody counts devices: a group whose pods claim some waits and says so.
TEST_F(VolcanoObjects, ThatClaimDevicesWait) {
  install_volcano();
  const auto pod = [&](const std::string& group, const std::string& claims) {
    const auto made = ServerTest::create(
        api::kPods, "default",
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p-)" + group +
            R"(","annotations":{"scheduling.k8s.io/group-name":")" + group +
            R"("}},"spec":{"containers":[{"name":"c","image":"i"}],"resourceClaims":)" + claims + "}}");
    EXPECT_TRUE(made.ok()) << made.body;
  };
  const auto reported = [&](const std::string& name) {
    const Json now = get(api::kPodGroups, "default", name).body;
    for (const Json& one : array_at(now, {"status", "conditions"})) {
      if (string_at(one, {"type"}) == "Unschedulable" && string_at(one, {"status"}) == "True")
        return std::string(string_at(one, {"reason"})) + ": " + std::string(string_at(one, {"message"}));
    }
    return std::string();
  };
  const std::string why =
      "Misconfigured: Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled";
  pod("claims", R"([{"name":"d","resourceClaimTemplateName":"two"}])");
  pod("free", R"([{"name":"d","resourceClaimName":"mine"}])");
  pod("plain", "[]");
  group("claims", "default", 1, 4);
  group("plain", "default", 1, 4);
  ASSERT_TRUE(create(api::kPodGroups, "default", R"({"metadata":{"name":"free"},"spec":{"minMember":1}})").ok());
  pass();
  EXPECT_EQ(phase("claims"), "Pending");
  EXPECT_EQ(reported("claims"), why);
  EXPECT_EQ(phase("free"), "Pending");
  EXPECT_EQ(reported("free"), why);
  EXPECT_EQ(phase("plain"), "Inqueue");
  EXPECT_EQ(allocated("default"), "4");
  restart_controller();
  EXPECT_EQ(phase("claims"), "Pending");
  ASSERT_TRUE(remove(api::kPods, "default", "p-claims").ok());
  pass(std::chrono::minutes(1));
  EXPECT_EQ(phase("claims"), "Inqueue");
  EXPECT_TRUE(controller->engine().check_invariants().empty());
}

TEST_F(VolcanoObjects, KeepWhatTheyHoldWhenTheControllerStartsAnew) {
  install_volcano();
  queue("tenant", R"({"capability":{"cpu":8}})");
  queue("q1", R"({"parent":"tenant"})");
  group("first", "q1", 2, 5);
  pass();
  group("second", "q1", 1, 5);
  pass();
  ASSERT_EQ(phase("first"), "Inqueue");
  ASSERT_EQ(phase("second"), "Pending");
  for (int i = 0; i < 3; ++i) {
    restart_controller();
    EXPECT_EQ(phase("first"), "Inqueue");
    EXPECT_EQ(phase("second"), "Pending");
    EXPECT_EQ(allocated("tenant"), "5");
    EXPECT_EQ(allocated("tenant", "pods"), "2");
  }
  ASSERT_TRUE(remove(api::kPodGroups, "default", "first").ok());
  pass();
  EXPECT_EQ(phase("second"), "Inqueue");
  EXPECT_TRUE(controller->engine().check_invariants().empty());
}

TEST_F(VolcanoObjects, AreKeptByTheNextLeader) {
  install_volcano();
  queue("tenant", R"({"capability":{"cpu":8}})");
  Controller next(*server, executor, ControllerOptions());
  next.start();
  pass();
  group("first", "tenant", 1, 5);
  pass();
  group("second", "tenant", 1, 5);
  pass();
  ASSERT_EQ(phase("first"), "Inqueue");
  EXPECT_EQ(next.engine().cluster_queue_status("volcano.tenant")->reserving, 1) << "who follows knows what is held";
  controller.reset();
  next.lead();
  pass();
  EXPECT_EQ(phase("first"), "Inqueue");
  EXPECT_EQ(phase("second"), "Pending");
  ASSERT_TRUE(remove(api::kPodGroups, "default", "first").ok());
  pass();
  EXPECT_EQ(phase("second"), "Inqueue");
  EXPECT_EQ(allocated("tenant"), "5");
  EXPECT_TRUE(next.engine().check_invariants().empty());
}

TEST_F(VolcanoObjects, AreChargedForPodsUntilTheseHaveStopped) {
  install_volcano();
  queue("tenant", R"({"capability":{"cpu":8}})");
  group("wide", "tenant", 1, 2);
  pass();
  for (const char* name : {"a", "b", "c", "d"}) bound_pod(name, "wide", 2);
  pass();
  EXPECT_EQ(allocated("tenant"), "8");
  group("wants", "tenant", 1, 4);
  pass();
  const auto stops = [this](const std::string& pod) {
    return find_path(get(api::kPods, "default", pod).body, {"metadata", "deletionTimestamp"}) != nullptr;
  };
  const auto two_newest_stop = [&] { return !stops("a") && !stops("b") && stops("c") && stops("d"); };
  EXPECT_TRUE(two_newest_stop()) << "as many as are needed";
  EXPECT_EQ(phase("wants"), "Pending");
  restart_controller();
  pass(std::chrono::minutes(1));
  EXPECT_TRUE(two_newest_stop());
  EXPECT_EQ(phase("wants"), "Pending");
  EXPECT_EQ(allocated("tenant"), "8") << "its node runs it yet";
  for (const char* name : {"c", "d"})
    ASSERT_TRUE(remove(api::kPods, "default", name, R"({"gracePeriodSeconds":0})").ok());
  pass();
  EXPECT_EQ(phase("wants"), "Inqueue");
  EXPECT_EQ(phase("wide"), "Inqueue");
  EXPECT_EQ(allocated("tenant"), "8");
  EXPECT_TRUE(controller->engine().check_invariants().empty());
}

TEST_F(VolcanoObjects, GiveWayWhenTheirPodsDoNotComeInTime) {
  install_volcano();
  for (const char* name : {"done", "empty"}) group(name, "default", 2, 2);
  pass();
  ASSERT_TRUE(patch(api::kPodGroups, "default", "done", R"({"status":{"phase":"Running","succeeded":2}})").ok());
  pass(std::chrono::minutes(25));
  EXPECT_EQ(phase("empty"), "Inqueue");
  pass(std::chrono::minutes(5));
  EXPECT_EQ(phase("empty"), "Pending");
  EXPECT_EQ(phase("done"), "Running") << "two came, and have ended";
}

TEST_F(VolcanoObjects, AreChargedWhenSomebodyElseLetsThemIn) {
  install_volcano();
  queue("tenant", R"({"capability":{"cpu":8}})");
  group("first", "tenant", 1, 5);
  group("second", "tenant", 1, 5);
  pass();
  ASSERT_EQ(phase("second"), "Pending");
  ASSERT_TRUE(patch(api::kPodGroups, "default", "second", R"({"status":{"phase":"Running"}})").ok());
  pass();
  EXPECT_EQ(phase("second"), "Running");
  EXPECT_EQ(allocated("tenant"), "10");
  group("third", "tenant", 1, 1);
  pass();
  EXPECT_EQ(phase("third"), "Pending");
}

TEST_F(VolcanoObjects, WithoutMinResourcesAreLetInAtOnceUnlessTheirQueueTakesNoWork) {
  install_volcano();
  queue("tenant", "{}");
  queue("child", R"({"parent":"tenant"})");
  for (const char* name : {"tenant", "child"}) {
    const std::string body =
        std::string(R"({"metadata":{"name":"in-)") + name + R"("},"spec":{"queue":")" + name + R"("}})";
    ASSERT_TRUE(create(api::kPodGroups, "default", body).ok());
  }
  pass();
  EXPECT_EQ(phase("in-child"), "Inqueue");
  EXPECT_EQ(phase("in-tenant"), "Pending") << "a parent takes no work itself";
  ASSERT_TRUE(remove(api::kPodGroups, "default", "in-child").ok());
  ASSERT_TRUE(remove(api::kVolcanoQueues, "", "child").ok());
  pass();
  EXPECT_EQ(phase("in-tenant"), "Inqueue");
}

TEST_F(VolcanoObjects, DoNotMixWithKueuesOfTheirNames) {
  install_volcano();
  queue("tenant", R"({"capability":{"cpu":2}})");
  ASSERT_TRUE(
      create(api::kClusterQueues, "", R"({"metadata":{"name":"volcano.tenant"},"spec":{"namespaceSelector":{}}})")
          .ok());
  ASSERT_TRUE(create(api::kCohorts, "", R"({"metadata":{"name":"volcano.root"},"spec":{}})").ok());
  pass();
  group("fits", "tenant", 1, 2);
  group("waits", "tenant", 1, 1);
  pass();
  EXPECT_EQ(phase("fits"), "Inqueue");
  EXPECT_EQ(phase("waits"), "Pending");
  ASSERT_TRUE(remove(api::kClusterQueues, "", "volcano.tenant").ok());
  pass();
  EXPECT_EQ(allocated("tenant"), "2");
}

TEST_F(VolcanoObjects, AreCountedInAFlavorThatMayComeAndGo) {
  install_volcano();
  for (int i = 0; i < 2; ++i) {
    group("g" + std::to_string(i), "default", 1, 1);
    pass();
    EXPECT_EQ(phase("g" + std::to_string(i)), "Inqueue");
    ASSERT_TRUE(create(api::kResourceFlavors, "", R"({"metadata":{"name":"volcano"},"spec":{}})").ok());
    group("h" + std::to_string(i), "default", 1, 1);
    pass();
    EXPECT_EQ(phase("h" + std::to_string(i)), "Inqueue");
    ASSERT_TRUE(patch(api::kResourceFlavors, "", "volcano", R"({"metadata":{"finalizers":null}})").ok());
    ASSERT_TRUE(remove(api::kResourceFlavors, "", "volcano").ok());
    pass();
  }
  EXPECT_TRUE(controller->engine().check_invariants().empty());
}

// The time until pods must be ready counts from the admission of the group, however long it waited and whichever
// process leads.
TEST_F(VolcanoObjects, AreNotLateForHavingWaited) {
  using ::testing::Contains, ::testing::HasSubstr, ::testing::Not;
  install_volcano();
  group("second", "later", 1, 2);
  pass(std::chrono::minutes(40));
  ASSERT_EQ(phase("second"), "Pending") << "there is no such queue";
  queue("later", "{}");
  pass();
  ASSERT_EQ(phase("second"), "Inqueue");
  restart_controller();
  EXPECT_EQ(phase("second"), "Inqueue");
  EXPECT_THAT(events("PodGroup", "second"), Not(Contains(HasSubstr("PodsReadyTimeout"))));
  pass(std::chrono::minutes(35));
  EXPECT_THAT(events("PodGroup", "second"), Contains(HasSubstr("PodsReadyTimeout"))) << "its pods never came";
}

}  // namespace
}  // namespace berth::controller::volcano_test
