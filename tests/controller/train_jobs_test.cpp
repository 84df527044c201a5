// TrainJobs whose runtime is missing, odd, or goes away: the job says so, and others go on.
#include <gmock/gmock.h>

#include "controller/guarded_job.h"
#include "controller/kinds_fixture.h"

namespace berth::controller::train_jobs_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const api::GroupVersionResource kTrainJobs{"trainer.kubeflow.org", "v1alpha1", "trainjobs"};
const api::GroupVersionResource kRuntimes{"trainer.kubeflow.org", "v1alpha1", "trainingruntimes"};
const api::GroupVersionResource kClusterRuntimes{"trainer.kubeflow.org", "v1alpha1", "clustertrainingruntimes"};

class TrainJobsTest : public KindsTest {
 protected:
  TrainJobsTest() {
    for (const auto& gvr : {kTrainJobs, kRuntimes, kClusterRuntimes}) install_kind(gvr.resource);
    pass(60);
    runtime("good", 1);
  }
  static std::string node(const std::string& replicas, const std::string& nodes) {
    return "{name: node, replicas: " + replicas +
           ", template: {metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: "
           "{parallelism: " +
           nodes + ", completions: " + nodes + ", " + std::string(kTemplate) + "}}}";
  }
  static std::string runtime_of(const std::string& name, const std::string& jobs) {
    return "{metadata: {name: " + name + "}, spec: {template: {spec: {replicatedJobs: [" + jobs + "]}}}}";
  }
  void runtime(const std::string& name, int nodes) {
    make(kClusterRuntimes, "ClusterTrainingRuntime", "", runtime_of(name, node("1", std::to_string(nodes))));
    pass();
  }
  api::RestResponse submit(const std::string& name, const std::string& runtime,
                           const std::string& kind = "ClusterTrainingRuntime", const std::string& more = "") {
    const auto made = create(kTrainJobs, "TrainJob", "default",
                             "{metadata: {name: " + name +
                                 ", labels: {kueue.x-k8s.io/queue-name: q}}, spec: {runtimeRef: {apiGroup: "
                                 "trainer.kubeflow.org, kind: " +
                                 kind + ", name: " + runtime + "}" + more + "}}");
    pass();
    return made;
  }
  void refused(const api::RestResponse& response, std::string_view why) {
    EXPECT_FALSE(response.ok());
    EXPECT_THAT(std::string(string_at(response.body, {"message"})), HasSubstr(std::string(why)));
  }
  bool runs(const std::string& name) { return seen(kTrainJobs, name).is_object() && !suspended(kTrainJobs, name); }
  std::string workload_of(std::string_view job) {
    for (const Json& one : workloads()) {
      if (string_at(array_at(one, {"metadata", "ownerReferences"})[0], {"name"}) == job)
        return std::string(string_at(one, {"metadata", "name"}));
    }
    return {};
  }
};

TEST_F(TrainJobsTest, RuntimesThatNoWorkloadCanBeMadeOfAreRefused) {
  refused(submit("a", "nobody"), "runtime 'nobody' not found");
  refused(submit("a", "good", "TrainingRuntime"), "runtime 'good' not found");
  make(kClusterRuntimes, "ClusterTrainingRuntime", "", "{metadata: {name: empty}, spec: {template: {spec: {}}}}");
  pass();
  refused(submit("a", "empty"), "at least one pod template");
  make(kClusterRuntimes, "ClusterTrainingRuntime", "", runtime_of("huge", node("2147483647", "2")));
  make(kClusterRuntimes, "ClusterTrainingRuntime", "", runtime_of("negative", node("1", "-2")));
  std::string many;
  for (int i = 0; i < 19; ++i) {
    many += std::string(i == 0 ? "" : ", ") + "{name: j" + std::to_string(i) + ", template: {spec: {" +
            std::string(kTemplate) + "}}}";
  }
  make(kClusterRuntimes, "ClusterTrainingRuntime", "", runtime_of("many", many));
  pass();
  refused(submit("a", "huge"), "must have from 0 to 2147483647 pods");
  refused(submit("a", "negative"), "must have from 0 to 2147483647 pods");
  refused(submit("a", "many"), "must have at most 18 items");
  EXPECT_TRUE(submit("b", "good").ok());
  EXPECT_TRUE(runs("b"));
}

TEST_F(TrainJobsTest, AJobThatIsTooLargeForEverWaitsAlone) {
  make(kClusterRuntimes, "ClusterTrainingRuntime", "", runtime_of("huge", node("2147483647", "1")));
  pass();
  EXPECT_TRUE(submit("a", "huge").ok());
  EXPECT_TRUE(submit("b", "good").ok());
  EXPECT_FALSE(runs("a"));
  EXPECT_TRUE(runs("b"));
}

TEST_F(TrainJobsTest, AWaitingJobWhoseRuntimeGoesAwayWaitsForIt) {
  runtime("mine", 9);
  EXPECT_TRUE(submit("a", "mine").ok());
  ASSERT_NE(workload_of("a"), "");
  EXPECT_TRUE(remove(kClusterRuntimes, "", "mine").ok());
  pass(60);
  EXPECT_THAT(events("a"), Contains(HasSubstr("ErrWorkloadCompose: runtime 'mine' not found")));
  EXPECT_THAT(workloads(), IsEmpty());
  EXPECT_TRUE(submit("b", "good").ok());
  EXPECT_TRUE(runs("b"));
  runtime("mine", 2);
  EXPECT_TRUE(runs("a"));
}

// The trainer has made its JobSet: the runtime is not needed any more.
TEST_F(TrainJobsTest, ARunningJobWhoseRuntimeGoesAwayRunsOn) {
  runtime("mine", 2);
  const Json original = submit("a", "mine").body;
  ASSERT_TRUE(runs("a"));
  EXPECT_TRUE(remove(kClusterRuntimes, "", "mine").ok());
  pass(60);
  EXPECT_TRUE(runs("a"));
  EXPECT_THAT(events("a"), Contains(HasSubstr("ErrWorkloadCompose: runtime 'mine' not found")));
  EXPECT_THAT(events("a"), Not(Contains(HasSubstr("Stopped"))));
  EXPECT_THAT(controller->engine().held_quotas(), SizeIs(1));

  // A controller that starts does not know it any better.
  controller.reset();
  controller.emplace(*server, executor, all_kinds());
  controller->start();
  controller->lead();
  pass(60);
  EXPECT_TRUE(runs("a"));
  EXPECT_THAT(controller->engine().held_quotas(), SizeIs(1));

  EXPECT_TRUE(patch(api::kWorkloads, "default", workload_of("a"), R"({"spec":{"active":false}})").ok());
  pass(60);
  EXPECT_EQ(canonical_json(seen(kTrainJobs, "a").at("spec")), canonical_json(original.at("spec")));
  EXPECT_THAT(controller->engine().held_quotas(), IsEmpty());
}

// While its pods are still there, nothing can be restored: the stop waits, and the old workload starts nothing.
TEST_F(TrainJobsTest, ARunningJobWhoseRuntimeChangesStopsOnceAndStartsOnce) {
  runtime("mine", 2);
  submit("a", "mine");
  ASSERT_TRUE(runs("a"));
  const auto generation = [&] { return int_at(seen(kTrainJobs, "a"), {"metadata", "generation"}); };
  EXPECT_TRUE(patch(kTrainJobs, "default", "a",
                    R"({"status":{"jobsStatus":[{"name":"node","ready":0,"succeeded":0,)"
                    R"("failed":0,"active":2,"suspended":0}]}})",
                    api::PatchType::kMerge, "status")
                  .ok());
  pass();
  const auto before = generation();
  EXPECT_TRUE(patch(kClusterRuntimes, "", "mine",
                    R"({"spec":{"template":{"spec":{"replicatedJobs":[)" +
                        to_string(parse_yaml(node("1", "3")).value().front()) + "]}}}}")
                  .ok());
  pass(5);
  EXPECT_FALSE(runs("a"));
  EXPECT_EQ(generation(), before + 1) << "it is suspended, and waits for its pods";
  EXPECT_TRUE(patch(kTrainJobs, "default", "a",
                    R"({"status":{"jobsStatus":[{"name":"node","ready":0,"succeeded":0,)"
                    R"("failed":0,"active":0,"suspended":1}]}})",
                    api::PatchType::kMerge, "status")
                  .ok());
  pass(30);
  EXPECT_TRUE(runs("a"));
  ASSERT_EQ(workloads().size(), 1u);
  EXPECT_EQ(int_at(array_at(workloads()[0], {"spec", "podSets"}).at(0), {"count"}), 3);
}

TEST_F(TrainJobsTest, ARunningJobWhoseRuntimeBecomesUnreadableRunsOn) {
  runtime("mine", 2);
  EXPECT_TRUE(submit("a", "mine").ok());
  ASSERT_TRUE(runs("a"));
  const Json body = JsonObject{
      {"spec",
       JsonObject{{"template", JsonObject{{"spec", JsonObject{{"replicatedJobs",
                                                               parse_yaml("[" + node("1", "-1") + "]")->front()}}}}}}}};
  const auto changed = patch(kClusterRuntimes, "", "mine", to_string(body));
  EXPECT_TRUE(changed.ok()) << to_string(changed.body);
  pass(60);
  EXPECT_TRUE(runs("a"));
  EXPECT_THAT(events("a"), Contains(HasSubstr("must have from 0 to 2147483647 pods")));
  EXPECT_THAT(controller->engine().held_quotas(), SizeIs(1));
}

// A start of a TrainJob takes two writes.
TEST_F(TrainJobsTest, AStartWhoseSecondWriteIsRefusedIsTriedAgainSlowly) {
  controller.reset();
  GuardedJob client(*server, executor);
  controller.emplace(client, executor, all_kinds());
  controller->start();
  controller->lead();
  pass();
  EXPECT_TRUE(submit("a", "good").ok());
  pass(600);
  EXPECT_FALSE(runs("a"));
  EXPECT_THAT(events("a"), Contains(HasSubstr("FailedToStart: ")));
  EXPECT_LE(controller->request_counts().at("patch trainjobs"), 45u);
  client.guards = false;
  pass(31);
  EXPECT_TRUE(runs("a"));
  controller.reset();
}

TEST_F(TrainJobsTest, UpdatesAreNotRefusedForARuntimeThatIsGone) {
  runtime("mine", 9);
  EXPECT_TRUE(submit("a", "mine").ok());
  EXPECT_TRUE(remove(kClusterRuntimes, "", "mine").ok());
  pass();
  const auto done = patch(kTrainJobs, "default", "a", R"({"spec":{"trainer":{"image":"x"}}})");
  EXPECT_TRUE(done.ok()) << to_string(done.body);
  refused(patch(kTrainJobs, "default", "a", R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"UPPER"}}})"),
          "queue-name");
}

}  // namespace
}  // namespace berth::controller::train_jobs_test
