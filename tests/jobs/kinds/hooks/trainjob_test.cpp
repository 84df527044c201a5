// TrainJob: the pod sets of its runtime, and the patch that starts it.
#include <gmock/gmock.h>

#include "jobs/kinds/hook.h"
#include "jobs/kinds/hooks/support.h"

namespace berth::jobs::kinds::trainjob_test {
namespace {

using support::yaml;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kRuntime = R"(
spec:
  mlPolicy: {numNodes: 2}
  template:
    spec:
      replicatedJobs:
        - name: dataset-initializer
          template:
            metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: dataset-initializer}}
            spec: {template: {spec: {containers: [{name: dataset-initializer, image: d}]}}}
        - name: node
          replicas: 1
          template:
            metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
            spec: {template: {spec: {containers: [{name: node, image: i, env: [{name: A, value: "1"}]}]}}}
)";

JsonPtr get(const api::GroupVersionResource& resource, std::string_view ns, std::string_view name) {
  const bool here = (resource.resource == "trainingruntimes" && ns == "ns" && name == "mine") ||
                    (resource.resource == "clustertrainingruntimes" && ns.empty() && name == "shared");
  return here ? std::make_shared<const Json>(yaml(kRuntime)) : nullptr;
}

DescribedJob adapter() { return {support::shipped("TrainJob"), get}; }

Json train_job(std::string_view spec) {
  Json job = yaml("{metadata: {name: a, namespace: ns}}");
  job.as_object()["spec"] = yaml(spec);
  ensure_path(job, {"spec", "suspend"}) = true;
  support::shipped("TrainJob")->hook->set_defaults(job);
  return job;
}

TEST(TrainJob, PodSetsAreThoseOfTheRuntime) {
  const Json shared = train_job("{runtimeRef: {name: shared}}");
  EXPECT_THAT(support::names_and_counts(adapter().pod_sets(shared)), ElementsAre("dataset-initializer 1", "node 2"));
  const Json own = train_job(
      "{runtimeRef: {name: mine, kind: TrainingRuntime}, trainer: {numNodes: 5, image: z, resourcesPerNode: {requests: "
      "{cpu: '1'}}, env: [{name: A, value: '2'}, {name: B}]}}");
  const auto pod_sets = adapter().pod_sets(own);
  EXPECT_THAT(support::names_and_counts(pod_sets), ElementsAre("dataset-initializer 1", "node 5"));
  EXPECT_EQ(canonical_json(array_at(*pod_sets[1].template_, {"spec", "containers"})[0]),
            R"({"env":[{"name":"A","value":"2"},{"name":"B"}],"image":"z","name":"node",)"
            R"("resources":{"requests":{"cpu":"1"}}})");
}

TEST(TrainJob, PatchesOfOthersCount) {
  const Json job =
      train_job(R"({runtimeRef: {name: shared}, runtimePatches: [{manager: me, trainingRuntimeSpec: {template: {spec:
    {replicatedJobs: [{name: node, template: {spec: {template: {metadata: {annotations:
      {kueue.x-k8s.io/podset-required-topology: rack}}, spec: {nodeSelector: {a: b}, containers: [{name: node, image: x}]}}}}}]}}}}]})");
  const auto pod_sets = adapter().pod_sets(job);
  EXPECT_EQ(pod_sets[1].topology_request->required, "rack");
  EXPECT_EQ(string_at(*pod_sets[1].template_, {"spec", "nodeSelector", "a"}), "b");
  EXPECT_EQ(string_at(array_at(*pod_sets[1].template_, {"spec", "containers"})[0], {"image"}), "x");
  EXPECT_EQ(support::difference_after_a_stop(adapter(), job), "");
}

TEST(TrainJob, AMissingRuntimeIsReported) {
  EXPECT_EQ(support::problem(adapter(), train_job("{runtimeRef: {name: nobody, kind: TrainingRuntime}}")),
            "runtime 'nobody' not found");
}

// The definition of a runtime may be that of another version, or somebody's own.
TEST(TrainJob, RuntimesOfAnyTypesAreReadOrRefused) {
  const auto problem_of = [](std::string_view runtime) {
    const Json read = yaml(runtime);
    const DescribedJob adapter(support::shipped("TrainJob"),
                               [&](const auto&, auto, auto) { return std::make_shared<const Json>(read); });
    return support::problem(adapter, train_job("{runtimeRef: {name: odd}, trainer: {image: z}}"));
  };
  const auto with_jobs = [&](std::string_view jobs) {
    return problem_of("{spec: {template: {spec: {replicatedJobs: " + std::string(jobs) + "}}}}");
  };
  for (const std::string_view runtime : {"7", "[]", "{}", "{spec: 1}", "{spec: {template: [a]}}"})
    EXPECT_THAT(problem_of(runtime), HasSubstr("at least one pod template")) << runtime;
  for (const std::string_view jobs : {"7", "{a: b}", "[]"})
    EXPECT_THAT(with_jobs(jobs), HasSubstr("at least one pod template")) << jobs;
  for (const std::string_view jobs : {"[7]", "[[]]", "[{name: node}]", "[{name: node, template: 3}]",
                                      "[{name: node, template: {spec: {template: {spec: 3}}}}]"})
    EXPECT_THAT(with_jobs(jobs), HasSubstr("a pod template with a spec")) << jobs;
  const auto counted = [&](std::string_view replicas, std::string_view parallelism) {
    return with_jobs("[{name: node, replicas: " + std::string(replicas) + ", template: {spec: {parallelism: " +
                     std::string(parallelism) + ", template: {spec: {containers: []}}}}}]");
  };
  EXPECT_EQ(counted("1", "1"), "");
  EXPECT_THAT(counted("many", "1"), HasSubstr("replicas: Invalid value: must be a whole number"));
  EXPECT_THAT(counted("1", "[2]"), HasSubstr("parallelism: Invalid value: must be a whole number"));
  EXPECT_THAT(counted("18446744073709551615", "1"), HasSubstr("must be a whole number"));
  EXPECT_THAT(counted("9223372036854775807", "9223372036854775807"), HasSubstr("from 0 to 2147483647 pods"));
  EXPECT_THAT(counted("-1", "1"), HasSubstr("from 0 to 2147483647 pods"));
  EXPECT_THAT(problem_of("{spec: {mlPolicy: {numNodes: two}}}"), HasSubstr("numNodes must be a whole number"));
}

TEST(TrainJob, AJobWhoseRuntimeIsGoneStops) {
  const Json job = train_job("{runtimeRef: {name: shared}}");
  const Json running = support::started(adapter(), job);
  const DescribedJob without(support::shipped("TrainJob"), [](const auto&, auto, auto) { return nullptr; });
  EXPECT_EQ(canonical_json(support::stopped(without, running, {})), canonical_json(job));
}

TEST(TrainJob, AdmissionIsAPatchOfTheRuntime) {
  const Json job = train_job("{runtimeRef: {name: shared}}");
  EXPECT_EQ(canonical_json(*find_path(job, {"spec", "runtimePatches"})),
            R"([{"manager":"kueue.x-k8s.io/manager","trainingRuntimeSpec":{"template":{"spec":{}}}}])");
  EXPECT_EQ(support::difference_after_a_stop(adapter(), job), "");
  const Json running = support::started(adapter(), job);
  const auto& patch = array_at(running, {"spec", "runtimePatches"})[0];
  const auto& jobs = array_at(patch, {"trainingRuntimeSpec", "template", "spec", "replicatedJobs"});
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(
      canonical_json(jobs[1]),
      R"({"name":"node","template":{"spec":{"template":{"metadata":{"annotations":{"kueue.x-k8s.io/workload":"w"},)"
      R"("labels":{"kueue.x-k8s.io/cluster-queue-name":"cq","kueue.x-k8s.io/podset":"node"}},"spec":)"
      R"({"nodeSelector":{"tier":"a"},"schedulingGates":[{"name":"kueue.x-k8s.io/topology"}],)"
      R"("tolerations":[{"key":"spot","operator":"Exists"}]}}}}})");
}

TEST(TrainJob, ItsPatchesChangeOnlyWhileItIsSuspendedAndHasNoPods) {
  const Json job = train_job("{runtimeRef: {name: shared}}");
  Json running = support::started(adapter(), job);
  const auto before = adapter().before_start(running);
  ASSERT_TRUE(before);
  EXPECT_TRUE(adapter().suspended(*before));
  EXPECT_EQ(canonical_json(make_merge_patch(*before, running)), R"({"spec":{"suspend":false}})");

  running.as_object()["status"] = yaml("{jobsStatus: [{name: node, active: 1}]}");
  const auto suspend = adapter().next_stop(running, {});
  ASSERT_TRUE(suspend);
  EXPECT_EQ(canonical_json(suspend->body), R"({"spec":{"suspend":true}})");
  Json stopping = apply_merge_patch(running, suspend->body);
  EXPECT_TRUE(adapter().stopping(stopping));
  EXPECT_FALSE(adapter().next_stop(stopping, {}));
  stopping.as_object().erase("status");
  const auto restore = adapter().next_stop(stopping, {});
  ASSERT_TRUE(restore);
  EXPECT_EQ(canonical_json(apply_merge_patch(stopping, restore->body)), canonical_json(job));
}

TEST(TrainJob, TolerationsOfItsAuthorStay) {
  const Json job =
      train_job(R"({runtimeRef: {name: shared}, runtimePatches: [{manager: me, trainingRuntimeSpec: {template: {spec:
    {replicatedJobs: [{name: node, template: {spec: {template: {spec: {tolerations: [{key: mine}]}}}}}]}}}}]})");
  const Json running = support::started(adapter(), job);
  const auto& patch = array_at(running, {"spec", "runtimePatches"})[1];
  const auto& node = array_at(patch, {"trainingRuntimeSpec", "template", "spec", "replicatedJobs"})[1];
  EXPECT_EQ(canonical_json(*find_path(node, {"template", "spec", "template", "spec", "tolerations"})),
            R"([{"key":"mine"},{"key":"spot","operator":"Exists"}])");
}

TEST(TrainJob, JobsThatSucceededGiveTheirPodsBack) {
  Json job = train_job("{runtimeRef: {name: shared}}");
  job.as_object()["status"] =
      yaml("{jobsStatus: [{name: dataset-initializer, succeeded: 1}, {name: node, ready: 1, active: 1}]}");
  const auto reclaimable = adapter().reclaimable(job);
  ASSERT_EQ(reclaimable.size(), 1u);
  EXPECT_EQ(reclaimable[0].name, "dataset-initializer");
  EXPECT_TRUE(adapter().pods_ready(job));
}

}  // namespace
}  // namespace berth::jobs::kinds::trainjob_test
