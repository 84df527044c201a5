// When a job takes a prebuilt workload, and what happens to both.
#include "controller/job_workloads_fixture.h"

namespace berth::controller::prebuilt_jobs_test {
namespace {

using namespace job_workloads_fixture;

TEST_F(JobWorkloads, AWorkloadThatTheLabelNamesIsTaken) {
  workload("w1");
  pass();
  EXPECT_EQ(condition(seen("w1"), "Admitted"), "True Admitted") << "also before its job comes";
  const std::string uid = job("j", ", kueue.x-k8s.io/prebuilt-workload-name: w1");
  pass();
  const Json taken = seen("w1");
  EXPECT_EQ(owner(taken), "j");
  EXPECT_EQ(string_at(taken, {"metadata", "labels", "kueue.x-k8s.io/job-uid"}), uid);
  EXPECT_FALSE(has_finalizer(taken));
  EXPECT_EQ(workloads().size(), 1u);
  EXPECT_FALSE(suspended("j"));
  EXPECT_EQ(string_at(seen_job("j"), {"spec", "template", "metadata", "annotations", "kueue.x-k8s.io/workload"}), "w1");
}

TEST_F(JobWorkloads, AWorkloadThatTheAnnotationNamesIsTakenWhenItComes) {
  job("j", "", "kueue.x-k8s.io/prebuilt-workload-name: w1");
  pass();
  EXPECT_TRUE(workloads().empty());
  EXPECT_TRUE(suspended("j"));
  workload("w1");
  pass();
  EXPECT_EQ(owner(seen("w1")), "j");
  EXPECT_FALSE(suspended("j"));
}

TEST_F(JobWorkloads, TheAnnotationComesBeforeTheLabel) {
  workload("of-the-label");
  workload("of-the-annotation");
  job("j", ", kueue.x-k8s.io/prebuilt-workload-name: of-the-label",
      "kueue.x-k8s.io/prebuilt-workload-name: of-the-annotation");
  pass();
  EXPECT_EQ(owner(seen("of-the-annotation")), "j");
  EXPECT_EQ(owner(seen("of-the-label")), "");
}

TEST_F(JobWorkloads, AWorkloadOfAnotherJobIsNotTaken) {
  workload("w1");
  job("first", ", kueue.x-k8s.io/prebuilt-workload-name: w1");
  pass();
  job("second", ", kueue.x-k8s.io/prebuilt-workload-name: w1");
  pass();
  EXPECT_EQ(owner(seen("w1")), "first");
  EXPECT_TRUE(suspended("second"));
  EXPECT_FALSE(suspended("first"));
}

TEST_F(JobWorkloads, APrebuiltWorkloadThatDoesNotFitIsOutOfSync) {
  job("j", ", kueue.x-k8s.io/prebuilt-workload-name: w1");
  workload("w1", "2");
  pass();
  EXPECT_EQ(condition(seen("w1"), "Finished"), "True OutOfSync");
  EXPECT_TRUE(suspended("j"));
  EXPECT_EQ(holders(), 0u);
}

TEST_F(JobWorkloads, AJobWhosePrebuiltWorkloadGoesStopsAndGoesOnWithTheNext) {
  workload("w1");
  job("j", ", kueue.x-k8s.io/prebuilt-workload-name: w1");
  pass();
  ASSERT_FALSE(suspended("j"));
  ASSERT_TRUE(remove(api::kWorkloads, "default", "w1").ok());
  pass();
  EXPECT_TRUE(suspended("j"));
  EXPECT_TRUE(reported("j", "Normal Stopped: missing workload"));
  EXPECT_TRUE(
      reported("j",
               "Warning ErrWorkloadCompose: the prebuilt Workload default/w1 (kueue.x-k8s.io/prebuilt-workload-name) "
               "does not exist: create it"));
  EXPECT_TRUE(workloads().empty()) << "none is made for it";
  workload("w1");
  pass();
  EXPECT_FALSE(suspended("j"));
}

TEST_F(JobWorkloads, APrebuiltWorkloadFinishesWithItsJob) {
  workload("w1");
  job("j", ", kueue.x-k8s.io/prebuilt-workload-name: w1");
  pass();
  ASSERT_TRUE(
      patch(
          apiserver::kJobs, "default", "j",
          R"({"status":{"succeeded":1,"startTime":"2020-01-01T00:00:00Z","completionTime":"2020-01-01T00:00:00Z","conditions":[
                       {"type":"SuccessCriteriaMet","status":"True","reason":"R","message":"m","lastTransitionTime":"2020-01-01T00:00:00Z"},
                       {"type":"Complete","status":"True","reason":"R","message":"m","lastTransitionTime":"2020-01-01T00:00:00Z"}]}})",
          api::PatchType::kMerge, "status")
          .ok());
  pass();
  EXPECT_EQ(condition(seen("w1"), "Finished"), "True Succeeded");
  EXPECT_TRUE(reported("j", "Normal FinishedWorkload: Workload 'default/w1' is declared finished"));
}

TEST_F(JobWorkloads, AJobThatNamesAWorkloadLaterLeavesItsOwn) {
  const std::string own = name_of("j", job("j", "", "kueue.x-k8s.io/admission-gated-by: example.com/a"));
  pass();
  ASSERT_TRUE(exists(api::kWorkloads, "default", own));
  workload("w1");
  ASSERT_TRUE(patch(apiserver::kJobs, "default", "j",
                    R"({"metadata":{"labels":{"kueue.x-k8s.io/prebuilt-workload-name":"w1"}}})")
                  .ok());
  pass();
  EXPECT_EQ(owner(seen("w1")), "j");
  EXPECT_FALSE(exists(api::kWorkloads, "default", own));
}

}  // namespace
}  // namespace berth::controller::prebuilt_jobs_test
