// AppWrapper: the pod sets of its components, and what starting writes beside them.
#include <gmock/gmock.h>

#include "jobs/kinds/hooks/support.h"

namespace berth::jobs::kinds::appwrapper_test {
namespace {

using support::job_of;
using support::yaml;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Json wrapper(std::string_view components) {
  Json job = yaml("{metadata: {name: a}, spec: {suspend: true}}");
  ensure_path(job, {"spec", "components"}) = yaml(components);
  return job;
}

constexpr std::string_view kAll = R"(
- template: {apiVersion: batch/v1, kind: Job, spec: {parallelism: 4, completions: 3, template: {spec: {containers: []}}}}
- template: {apiVersion: v1, kind: Service, spec: {ports: [{port: 80}]}}
- template: {apiVersion: v1, kind: Pod, metadata: {name: p, labels: {a: b}}, spec: {containers: []}}
- template:
    apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    spec:
      replicatedJobs:
        - {name: x, replicas: 2, template: {spec: {template: {spec: {containers: []}}}}}
        - {name: y, template: {spec: {template: {spec: {containers: []}}}}}
- template: {apiVersion: example.com/v1, kind: Thing, spec: {tasks: [{pods: {spec: {containers: []}}}]}}
  podSets:
    - path: template.spec.tasks[0].pods
      replicas: 5
      annotations: {workload.codeflare.dev.appwrapper/tas-pod-index-label: rank}
)";

TEST(AppWrapper, ComponentsHavePodSets) {
  const auto adapter = job_of("AppWrapper");
  const Json job = wrapper(kAll);
  const auto pod_sets = adapter.pod_sets(job);
  EXPECT_THAT(support::names_and_counts(pod_sets), ElementsAre("a-0 3", "a-1 1", "a-2 2", "a-3 1", "a-4 5"));
  EXPECT_EQ(pod_sets[0].topology_request->pod_index_label, "batch.kubernetes.io/job-completion-index");
  EXPECT_FALSE(pod_sets[1].topology_request);
  EXPECT_EQ(pod_sets[2].topology_request->sub_group_count, 2);
  EXPECT_EQ(pod_sets[4].topology_request->pod_index_label, "rank");
}

TEST(AppWrapper, AdmissionIsWrittenBesideTheComponents) {
  const auto adapter = job_of("AppWrapper");
  const Json job = wrapper(kAll);
  EXPECT_EQ(support::difference_after_a_stop(adapter, job), "");
  const Json running = support::started(adapter, job);
  const auto& components = array_at(running, {"spec", "components"});
  EXPECT_EQ(find(components[1], "podSetInfos"), nullptr);
  EXPECT_EQ(array_at(components[3], {"podSetInfos"}).size(), 2u);
  EXPECT_EQ(
      canonical_json(array_at(components[4], {"podSetInfos"})[0]),
      R"({"annotations":{"kueue.x-k8s.io/workload":"w"},"labels":{"kueue.x-k8s.io/cluster-queue-name":"cq",)"
      R"("kueue.x-k8s.io/podset":"a-4"},"nodeSelector":{"tier":"a"},)"
      R"("schedulingGates":[{"name":"kueue.x-k8s.io/topology"}],"tolerations":[{"key":"spot","operator":"Exists"}]})");
}

TEST(AppWrapper, APodSetThatIsNotThereIsAnError) {
  const auto adapter = job_of("AppWrapper");
  const auto problem = [&](std::string_view path) {
    return support::problem(adapter, wrapper("[{template: {kind: Thing, spec: {a: [1]}}, podSets: [{path: '" +
                                             std::string(path) + "'}]}]"));
  };
  EXPECT_EQ(problem("template.nothing"),
            R"(spec.components[0].podSets[0].path: Invalid value: "template.nothing": there is no pod template)");
  for (const auto* path : {"", "x", "[0]", "template.", "template[", "template[x]", "template..a", "template[-1]",
                           "template[99999999999999999999]"})
    EXPECT_THAT(problem(path), HasSubstr("spec.components[0].podSets[0].path")) << path;
  EXPECT_THAT(support::problem(adapter, wrapper("[]")), HasSubstr("at least one pod template"));
}

TEST(AppWrapper, ACountThatIsNoNumberIsAnError) {
  const auto adapter = job_of("AppWrapper");
  const auto problem = [&](std::string_view kind, std::string_view count) {
    return support::problem(adapter, wrapper("[{template: {" + std::string(kind) + ", spec: {" + std::string(count) +
                                             ", template: {spec: {containers: []}}}}}]"));
  };
  for (const std::string field : {"parallelism", "completions"}) {
    for (const auto* value : {"x", "1.5", "true", "[1]", "99999999999999999999"})
      EXPECT_THAT(problem("apiVersion: batch/v1, kind: Job", field + ": " + value),
                  HasSubstr("spec.components[0].template.spec." + field + ": Invalid value: must be a whole number"))
          << value;
    EXPECT_EQ(problem("apiVersion: batch/v1, kind: Job", field + ": null"), "");
  }
  EXPECT_THAT(problem("apiVersion: apps/v1, kind: Deployment", "replicas: x"),
              HasSubstr("spec.components[0].template.spec.replicas: Invalid value: must be a whole number"));
  EXPECT_EQ(problem("apiVersion: apps/v1, kind: Deployment", "parallelism: x"), "");
}

TEST(AppWrapper, AFailureIsOverWhenItsObjectsAreGone) {
  const auto adapter = job_of("AppWrapper");
  Json job = wrapper(kAll);
  job.as_object()["status"] = yaml(
      "{phase: Failed, conditions: [{type: ResourcesDeployed, status: 'True'}, {type: QuotaReserved, status: "
      "'True'}]}");
  EXPECT_FALSE(adapter.finished(job));
  EXPECT_TRUE(adapter.active(job));
  job.as_object()["status"] = yaml("{phase: Failed, conditions: [{type: ResourcesDeployed, status: 'False'}]}");
  ASSERT_TRUE(adapter.finished(job));
  EXPECT_FALSE(adapter.finished(job)->succeeded);
}

}  // namespace
}  // namespace berth::jobs::kinds::appwrapper_test
