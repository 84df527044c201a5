// Commands on Volcano's queues, the effect of parents on their children, what is refused, and the events about it.
#include <gmock/gmock.h>

#include "controller/volcano_objects.h"

namespace berth::controller::volcano_orders_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class VolcanoOrders : public VolcanoObjects {
 protected:
  VolcanoOrders() {
    install_volcano();
    queue("tenant", R"({"capability":{"cpu":8}})");
    queue("child", R"({"parent":"tenant"})");
    queue("other", "{}");
    pass();
  }
  std::string mark(const std::string& queue) {
    return std::string(string_at(get(api::kVolcanoQueues, "", queue).body,
                                 {"metadata", "annotations", "volcano.sh/closed-by-parent"}));
  }
};

TEST_F(VolcanoOrders, AreCarriedOutOnceAndGone) {
  command("CloseQueue", "other");
  pass();
  EXPECT_EQ(state("other"), "Closed");
  EXPECT_TRUE(array_at(list(api::kVolcanoCommands, "").body, {"items"}).empty());
  command("OpenQueue", "other");
  pass();
  EXPECT_EQ(state("other"), "Open");
}

TEST_F(VolcanoOrders, AboutAnotherQueueOfTheNameDoNothing) {
  command("CloseQueue", "other", R"(,"uid":"somebody-elses")");
  command("CloseQueue", "nobody");
  pass();
  EXPECT_EQ(state("other"), "Open");
  EXPECT_TRUE(array_at(list(api::kVolcanoCommands, "").body, {"items"}).empty());
}

TEST_F(VolcanoOrders, AboutOtherKindsAreLeftToOthers) {
  ASSERT_TRUE(
      create(
          api::kVolcanoCommands, "default",
          R"({"metadata":{"name":"c"},"action":"AbortJob","target":{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"other","uid":""}})")
          .ok());
  pass();
  EXPECT_TRUE(exists(api::kVolcanoCommands, "default", "c"));
}

TEST_F(VolcanoOrders, ThatCannotBeCarriedOutAreSaid) {
  command("CloseQueue", "root");
  command("Explode", "other");
  pass();
  EXPECT_EQ(state("root"), "Open");
  EXPECT_THAT(events("Queue", "root"),
              Contains(AllOf(StartsWith("CommandRefused: "), HasSubstr("root cannot be closed"))));
  EXPECT_THAT(events("Queue", "other"),
              Contains(AllOf(StartsWith("CommandRefused: "), HasSubstr("must be OpenQueue or CloseQueue"))));
  EXPECT_TRUE(array_at(list(api::kVolcanoCommands, "").body, {"items"}).empty());
}

TEST_F(VolcanoOrders, OfAParentReachItsChildrenAndNobodyIsInformedOfARefusal) {
  group("g", "child", 1, 4);
  pass();
  command("CloseQueue", "tenant");
  pass();
  EXPECT_EQ(state("tenant"), "Closed");
  EXPECT_EQ(state("child"), "Closing") << "it has a PodGroup yet";
  EXPECT_EQ(mark("child"), "true");
  EXPECT_EQ(phase("g"), "Inqueue");
  ASSERT_TRUE(remove(api::kPodGroups, "default", "g").ok());
  pass();
  EXPECT_EQ(state("child"), "Closed");
  command("OpenQueue", "tenant");
  pass();
  EXPECT_EQ(state("child"), "Open");
  EXPECT_EQ(mark("child"), "false");
  EXPECT_THAT(events("Queue", "child"), Not(Contains(StartsWith("CommandRefused"))));
}

TEST_F(VolcanoOrders, ToOpenAChildOfAClosedParentWaitForTheParent) {
  command("CloseQueue", "child");
  pass();
  command("CloseQueue", "tenant");
  pass();
  command("OpenQueue", "child");
  pass(std::chrono::seconds(30));
  EXPECT_EQ(state("child"), "Closed");
  EXPECT_THAT(events("Queue", "child"),
              Contains(AllOf(StartsWith("CommandRefused: "), HasSubstr("open queue tenant first"))));
  command("OpenQueue", "tenant");
  pass(std::chrono::minutes(2));
  EXPECT_EQ(state("tenant"), "Open");
  EXPECT_EQ(state("child"), "Open");
}

TEST_F(VolcanoOrders, AQueueThatMovesBelowAClosedOneIsClosedUntilItMovesOut) {
  command("CloseQueue", "tenant");
  pass();
  ASSERT_TRUE(patch(api::kVolcanoQueues, "", "other", R"({"spec":{"parent":"tenant"}})").ok());
  pass();
  EXPECT_EQ(state("other"), "Closed");
  EXPECT_EQ(mark("other"), "true");
  ASSERT_TRUE(patch(api::kVolcanoQueues, "", "other", R"({"spec":{"parent":"root"}})").ok());
  pass();
  EXPECT_EQ(state("other"), "Open");
  EXPECT_EQ(mark("other"), "false");
}

TEST_F(VolcanoOrders, WhoWaitsHearsWhy) {
  group("holds", "child", 1, 6);
  pass();
  group("waits", "child", 1, 6);
  pass();
  ASSERT_EQ(phase("waits"), "Pending");
  EXPECT_THAT(events("PodGroup", "waits"), Contains(HasSubstr("insufficient")));
  EXPECT_THAT(events("PodGroup", "holds"), Contains(StartsWith("Admitted")));
  command("CloseQueue", "child");
  pass();
  EXPECT_THAT(events("PodGroup", "waits"),
              Contains(AllOf(StartsWith("Unschedulable: "), HasSubstr("queue child is Closing"))));
  const Json status = get(api::kPodGroups, "default", "waits").body;
  EXPECT_EQ(string_at(array_at(status, {"status", "conditions"})[0], {"type"}), "Unschedulable");
  EXPECT_EQ(string_at(array_at(status, {"status", "conditions"})[0], {"reason"}), "QueueTakesNoWork");
}

TEST_F(VolcanoOrders, AtRestNothingIsWritten) {
  group("holds", "child", 1, 6);
  group("waits", "child", 1, 6);
  pass(std::chrono::minutes(1));
  const auto before = controller->request_counts();
  pass(std::chrono::minutes(25));  // after half an hour without pods, the group would be evicted
  EXPECT_EQ(controller->request_counts(), before);
}

// For clusters in which Volcano's own scheduler and controllers run.
TEST_F(VolcanoOrders, SwitchedOffAllOfItIsSomebodyElses) {
  group("before", "child", 1, 6);
  pass();
  restart_controller(false);
  EXPECT_TRUE(controller->leading());
  group("after", "child", 1, 1);
  command("CloseQueue", "child");
  ASSERT_TRUE(remove(api::kVolcanoQueues, "", "root").ok());
  ASSERT_TRUE(
      create(api::kClusterQueues, "", R"({"metadata":{"name":"volcano.child"},"spec":{"namespaceSelector":{}}})").ok());
  pass(std::chrono::minutes(1));
  EXPECT_EQ(phase("before"), "Inqueue");
  EXPECT_EQ(phase("after"), "");
  EXPECT_EQ(state("child"), "Open");
  EXPECT_EQ(array_at(list(api::kVolcanoCommands, "").body, {"items"}).size(), 1u);
  EXPECT_FALSE(exists(api::kVolcanoQueues, "", "root"));
  EXPECT_FALSE(array_at(get(api::kClusterQueues, "", "volcano.child").body, {"status", "conditions"}).empty())
      << "the name is like any other";
}

}  // namespace
}  // namespace berth::controller::volcano_orders_test
