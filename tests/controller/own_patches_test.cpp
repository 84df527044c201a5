// A cache that is behind the controller's own patches: a job that was started keeps its quota until it has stopped.
#include "controller/own_patches.h"

#include "controller/job_workloads_fixture.h"
#include "controller/late_client.h"

namespace berth::controller::own_patches_test {
namespace {

using namespace job_workloads_fixture;

class OwnPatchesTest : public JobWorkloads {
 protected:
  OwnPatchesTest() {
    controller.emplace(late, executor, ControllerOptions());
    controller->start();
    controller->lead();
    queue_says("Hold");
    name = name_of("j", job("j"));
    pass();
    late.be_late("jobs", "j");
  }
  ~OwnPatchesTest() override { controller.reset(); }

  void queue_says(const std::string& policy) {
    ASSERT_TRUE(patch({"kueue.x-k8s.io", "v1beta2", "clusterqueues"}, "", "cq",
                      R"({"spec":{"stopPolicy":")" + policy + R"("}})")
                    .ok());
  }
  // The job is started, and its queue is drained. The cache shows the job as it was before.
  void start_and_drain() {
    queue_says("None");
    pass();
    ASSERT_FALSE(suspended("j"));
    queue_says("HoldAndDrain");
    pass(30);
    EXPECT_EQ(condition(seen(name), "Evicted"), "True ClusterQueueStopped");
  }
  void expect_it_stops_when_the_cache_is_there() {
    EXPECT_FALSE(suspended("j"));
    EXPECT_EQ(holders(), 1u) << "it runs";
    late.catch_up();
    pass();
    EXPECT_TRUE(suspended("j"));
    EXPECT_EQ(holders(), 0u);
    queue_says("None");
    pass(60);
    EXPECT_FALSE(suspended("j")) << "nothing is stuck";
  }

  LateClient late{*server};
  std::string name;
};

TEST_F(OwnPatchesTest, AJobThatWasStartedKeepsItsQuotaUntilTheCacheShowsThatItStopped) {
  start_and_drain();
  expect_it_stops_when_the_cache_is_there();
}

TEST_F(OwnPatchesTest, SoDoesOneWhoseStartHasNoAnswer) {
  late.lose = 1;
  start_and_drain();
  expect_it_stops_when_the_cache_is_there();
}

TEST_F(OwnPatchesTest, AStartThatWasNotCarriedOutIsTriedAgain) {
  late.refuse = 2;
  queue_says("None");
  pass();
  EXPECT_FALSE(suspended("j"));
  EXPECT_EQ(late.refuse, 0);
}

TEST_F(OwnPatchesTest, AJobThatIsGoneIsNotWaitedFor) {
  queue_says("None");
  pass();
  ASSERT_TRUE(remove(apiserver::kJobs, "default", "j", R"({"propagationPolicy":"Background"})").ok());
  late.catch_up();
  pass();
  EXPECT_EQ(condition(seen(name), "Finished"), "True OwnerNotFound");
  EXPECT_EQ(holders(), 0u);
}

}  // namespace
}  // namespace berth::controller::own_patches_test
