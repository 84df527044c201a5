// Jobs of described kinds: their pod sets, and what starting and stopping writes.
#include <gmock/gmock.h>

#include "base/merge_patch.h"
#include "jobs/kinds/support.h"

namespace berth::jobs::kinds::described_job_test {
namespace {

using support::infos_for;
using support::job_of;
using support::names_and_counts;
using support::yaml;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kPyTorch = R"(
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: a, namespace: ns, uid: u, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  runPolicy: {suspend: true, schedulingPolicy: {priorityClass: high}}
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template: {metadata: {labels: {mine: "1"}}, spec: {containers: [{name: c, image: i}], nodeSelector: {disk: ssd}}}
    Master:
      template: {spec: {containers: [{name: c, image: i}]}}
)";

constexpr std::string_view kJobSet = R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: s, namespace: ns, uid: u}
spec:
  suspend: true
  replicatedJobs:
    - {name: driver, template: {spec: {template: {spec: {containers: []}}}}}
    - name: workers
      replicas: 3
      template: {spec: {parallelism: 4, completions: 2, template: {metadata: {}, spec: {containers: [], priorityClassName: low}}}}
)";

TEST(DescribedJob, PodSetsComeInTheOrderOfTheDescription) {
  EXPECT_THAT(names_and_counts(job_of("PyTorchJob").pod_sets(yaml(kPyTorch))), ElementsAre("master 1", "worker 2"));
  EXPECT_THAT(names_and_counts(job_of("JobSet").pod_sets(yaml(kJobSet))), ElementsAre("driver 1", "workers 6"));
}

TEST(DescribedJob, PodSetsOfAJobSetHaveSubGroups) {
  const auto pod_sets = job_of("JobSet").pod_sets(yaml(kJobSet));
  ASSERT_EQ(pod_sets.size(), 2u);
  const api::kueue::TopologyRequest& request = *pod_sets[1].topology_request;
  EXPECT_EQ(request.pod_index_label, "batch.kubernetes.io/job-completion-index");
  EXPECT_EQ(request.sub_group_index_label, "jobset.sigs.k8s.io/job-index");
  EXPECT_EQ(request.sub_group_count, 3);
}

TEST(DescribedJob, ThePriorityClassIsThatOfThePolicyOrOfTheFirstTemplateThatHasOne) {
  EXPECT_EQ(job_of("PyTorchJob").priority_class(yaml(kPyTorch)), "high");
  EXPECT_EQ(job_of("JobSet").priority_class(yaml(kJobSet)), "low");
}

// Some definitions do not look into templates; that of a Workload does.
TEST(DescribedJob, AmountsWithDecimalsAreTexts) {
  const Json job = yaml(
      "{spec: {replicatedJobs: [{name: a, template: {spec: {template: {spec: {initContainers: [{name: i, resources: "
      "{limits: {cpu: 0.1}}}], containers: [{name: c, resources: {requests: {cpu: 0.5, memory: 1500000, gpu: "
      "2}}}]}}}}}]}}");
  const auto pod_sets = job_of("JobSet").pod_sets(job);
  EXPECT_EQ(canonical_json(*pod_sets[0].template_),
            R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"500m","gpu":2,"memory":1500000}}}],)"
            R"("initContainers":[{"name":"i","resources":{"limits":{"cpu":"100m"}}}]}})");
}

TEST(DescribedJob, StoppingRestoresWhatStartingWrote) {
  for (const auto& [kind, text] : {std::pair("PyTorchJob", kPyTorch), std::pair("JobSet", kJobSet)}) {
    const auto adapter = job_of(kind);
    const Json job = yaml(text);
    const auto pod_sets = adapter.pod_sets(job);
    const auto started = adapter.started(job, infos_for(pod_sets));
    ASSERT_TRUE(started) << started.error().message;
    EXPECT_FALSE(adapter.suspended(*started));
    EXPECT_NE(canonical_json(*started), canonical_json(job));
    const auto stop = adapter.next_stop(*started, pod_sets);
    ASSERT_TRUE(stop);
    EXPECT_TRUE(stop->last);
    const Json stopped = apply_merge_patch(*started, stop->body);
    EXPECT_EQ(canonical_json(stopped), canonical_json(job)) << kind;
    EXPECT_FALSE(adapter.next_stop(stopped, pod_sets));
  }
}

TEST(DescribedJob, AConflictWithTheTemplateIsAnError) {
  const auto adapter = job_of("PyTorchJob");
  Json job = yaml(kPyTorch);
  auto infos = infos_for(adapter.pod_sets(job));
  infos[1].node_selector = {{"disk", "hdd"}};
  EXPECT_FALSE(adapter.started(job, infos));
}

TEST(DescribedJob, StatusDecides) {
  const auto adapter = job_of("PyTorchJob");
  Json job = yaml(kPyTorch);
  EXPECT_FALSE(adapter.active(job));
  EXPECT_FALSE(adapter.finished(job));
  job.as_object()["status"] =
      yaml("{conditions: [{type: Running, status: 'True'}], replicaStatuses: {Master: {active: 1}, Worker: {}}}");
  EXPECT_TRUE(adapter.active(job));
  EXPECT_TRUE(adapter.pods_ready(job));
  job.as_object()["status"] =
      yaml("{conditions: [{type: Running, status: 'False'}, {type: Failed, status: 'True', message: why}]}");
  EXPECT_FALSE(adapter.pods_ready(job));
  const auto outcome = adapter.finished(job);
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->succeeded);
  EXPECT_EQ(outcome->message, "why");
}

TEST(DescribedJob, JobsThatSucceededGiveTheirPodsBack) {
  const auto adapter = job_of("JobSet");
  Json job = yaml(kJobSet);
  job.as_object()["status"] =
      yaml("{replicatedJobsStatus: [{name: driver, succeeded: 1}, {name: workers, succeeded: 2, ready: 1}]}");
  const auto reclaimable = adapter.reclaimable(job);
  ASSERT_EQ(reclaimable.size(), 2u);
  EXPECT_EQ(reclaimable[0].name, "driver");
  EXPECT_EQ(reclaimable[0].count, 1) << "all of its replicas";
  EXPECT_EQ(reclaimable[1].name, "workers");
  EXPECT_EQ(reclaimable[1].count, 4);
  EXPECT_TRUE(adapter.pods_ready(job));
}

TEST(DescribedJob, OddJobsAreReported) {
  const auto adapter = job_of("JobSet");
  const auto problem = [&](std::string_view text) {
    const auto checked = adapter.check_pod_sets(yaml(text));
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_THAT(problem("{spec: {}}"), HasSubstr("at least one pod template"));
  EXPECT_THAT(problem("{spec: {replicatedJobs: 7}}"), HasSubstr("at least one pod template"));
  EXPECT_THAT(problem("{spec: {replicatedJobs: [{name: a}]}}"),
              HasSubstr("spec.replicatedJobs[0].template.spec.template: Required value"));
  constexpr std::string_view kBody = "template: {spec: {template: {spec: {}}}}}";
  EXPECT_THAT(problem("{spec: {replicatedJobs: [{name: a, replicas: -1, " + std::string(kBody) + "]}}"),
              HasSubstr("is -1, expected a number from 0"));
  EXPECT_THAT(problem("{spec: {replicatedJobs: [{name: a, replicas: 9999999999, " + std::string(kBody) + "]}}"),
              HasSubstr("is 9999999999"));
  EXPECT_THAT(problem("{spec: {replicatedJobs: [{name: a, replicas: x, " + std::string(kBody) + "]}}"),
              HasSubstr("fails: no such overload"));
  EXPECT_THAT(problem("{spec: {replicatedJobs: [{name: A_, " + std::string(kBody) + "]}}"), HasSubstr("its pod set"));
  EXPECT_THAT(
      problem("{spec: {replicatedJobs: [{name: a, " + std::string(kBody) + ", {name: a, " + std::string(kBody) + "]}}"),
      HasSubstr("Duplicate value"));
}

TEST(DescribedJob, AStatusOfTheWrongTypeIsReportedAndCountsAsNothing) {
  const auto adapter = job_of("JobSet");
  Json job = yaml(kJobSet);
  job.as_object()["status"] = yaml("{conditions: 3, replicatedJobsStatus: {a: b}}");
  EXPECT_FALSE(adapter.check_status(job));
  EXPECT_FALSE(adapter.finished(job));
  EXPECT_FALSE(adapter.pods_ready(job));
  EXPECT_TRUE(adapter.reclaimable(job).empty());
}

}  // namespace
}  // namespace berth::jobs::kinds::described_job_test
