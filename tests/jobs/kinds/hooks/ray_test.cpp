// Clusters, jobs and services of Ray: the pods that KubeRay adds count.
#include <gmock/gmock.h>

#include "jobs/kinds/hooks/support.h"

namespace berth::jobs::kinds::ray_test {
namespace {

using support::job_of;
using support::yaml;
using ::testing::ElementsAre;

constexpr std::string_view kCluster = R"(
headGroupSpec: {template: {spec: {containers: [{name: ray, image: r, resources: {requests: {cpu: 100m, memory: 1Gi}}}]}}}
workerGroupSpecs:
  - {groupName: Small, replicas: 3, template: {spec: {containers: [{name: ray}]}}}
  - {groupName: wide, replicas: 2, numOfHosts: 4, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: ray}]}}}
)";

Json object(std::string_view member, std::string_view more = "{}") {
  Json spec = yaml(more);
  if (member.empty()) {
    const Json cluster = yaml(kCluster);
    for (const auto& [key, value] : cluster.get_object()) spec.as_object()[key] = value;
    spec.as_object()["suspend"] = true;
  } else {
    spec.as_object()[member] = yaml(kCluster);
    (member == "rayClusterSpec" ? spec : spec.as_object()[member]).as_object()["suspend"] = true;
  }
  return JsonObject{{"metadata", JsonObject{{"name", "a"}}}, {"spec", std::move(spec)}};
}

Json head_of(const DescribedJob& adapter, const Json& job) { return *adapter.pod_sets(job).front().template_; }

TEST(Ray, GroupsHaveAPodForEachHost) {
  for (const auto& [kind, member] : {std::pair("RayCluster", ""), std::pair("RayJob", "rayClusterSpec"),
                                     std::pair("RayService", "rayClusterConfig")}) {
    const Json job = object(member, "{submissionMode: HTTPMode}");
    EXPECT_THAT(support::names_and_counts(job_of(kind).pod_sets(job)), ElementsAre("head 1", "small 3", "wide 8"));
    EXPECT_EQ(support::difference_after_a_stop(job_of(kind), job), "") << kind;
  }
}

// Without `replicas` a group has its least number, as after the defaults of the definition.
TEST(Ray, GroupsCountThePodsThatTheOperatorMakes) {
  const auto count_of = [](std::string_view group) {
    const Json job =
        yaml("{spec: {headGroupSpec: {template: {spec: {containers: []}}}, workerGroupSpecs: [{groupName: w, " +
             std::string(group) + ", template: {spec: {containers: []}}}]}}");
    return job_of("RayCluster").pod_sets(job).back().count;
  };
  EXPECT_EQ(count_of("minReplicas: 2, maxReplicas: 5"), 2);
  EXPECT_EQ(count_of("rayStartParams: {}"), 0);
  EXPECT_EQ(count_of("replicas: 1, minReplicas: 3, maxReplicas: 5"), 3);
  EXPECT_EQ(count_of("replicas: 9, minReplicas: 0, maxReplicas: 2"), 2);
  EXPECT_EQ(count_of("replicas: -1, maxReplicas: 2"), 0);
  EXPECT_EQ(count_of("replicas: 1, minReplicas: 3, maxReplicas: 5, numOfHosts: 4"), 12);
  EXPECT_EQ(count_of("replicas: 2, minReplicas: 2, maxReplicas: 2, suspend: true"), 0);
  EXPECT_EQ(count_of("replicas: 2, suspend: false"), 2);
}

// An autoscaler of Ray changes the cluster that KubeRay made of the job, not the job.
TEST(Ray, AnElasticJobThatScalesItselfHasTheSizeOfItsCluster) {
  const auto child = [](std::string_view owner, int small, int generation) {
    return std::make_shared<const Json>(yaml(
        "{metadata: {generation: " + std::to_string(generation) + ", ownerReferences: [{controller: true, uid: " +
        std::string(owner) + "}]}, spec: {workerGroupSpecs: [{groupName: Small, replicas: " + std::to_string(small) +
        ", maxReplicas: 7}, {groupName: wide, replicas: 1, numOfHosts: 4}, {groupName: new, replicas: 5}]}}"));
  };
  for (const auto& [kind, member, status] :
       {std::tuple("RayJob", "rayClusterSpec", "{rayClusterName: c}"),
        std::tuple("RayService", "rayClusterConfig", "{activeServiceStatus: {rayClusterName: c}}")}) {
    JsonPtr cluster;
    const DescribedJob adapter(support::shipped(kind), [&](const auto& resource, auto ns, auto name) {
      return resource.resource == "rayclusters" && ns == "ns" && name == "c" ? cluster : nullptr;
    });
    Json job = object(member, "{submissionMode: HTTPMode}");
    ensure_path(job, {"metadata"}) =
        yaml("{name: a, namespace: ns, uid: u, generation: 3, annotations: {kueue.x-k8s.io/elastic-job: 'true'}}");
    ensure_path(job, {"spec", member, "enableInTreeAutoscaling"}) = true;
    ensure_path(job, {"status"}) = yaml(status);
    const auto sizes = [&] { return support::names_and_counts(adapter.pod_sets(job)); };
    EXPECT_THAT(sizes(), ElementsAre("head 1", "small 3", "wide 8")) << kind << ": there is no cluster yet";
    EXPECT_EQ(adapter.size_version(job), "3");
    cluster = child("u", 6, 9);
    EXPECT_THAT(sizes(), ElementsAre("head 1", "small 6", "wide 4")) << kind;
    EXPECT_EQ(adapter.size_version(job), "3_9");
    cluster = child("u", 20, 9);
    EXPECT_THAT(sizes(), ElementsAre("head 1", "small 7", "wide 4")) << kind << ": at most so many";
    cluster = child("other", 6, 9);
    EXPECT_THAT(sizes(), ElementsAre("head 1", "small 3", "wide 8")) << kind << ": it is of somebody else";
    cluster = child("u", 6, 9);
    erase_path(job, {"metadata", "annotations"});
    EXPECT_THAT(sizes(), ElementsAre("head 1", "small 3", "wide 8")) << kind << ": it is not elastic";
  }
}

TEST(Ray, ContainersThatTheOperatorAddsCount) {
  const auto adapter = job_of("RayCluster");
  const Json scaled = head_of(adapter, object("", "{enableInTreeAutoscaling: true}"));
  EXPECT_EQ(canonical_json(array_at(scaled, {"spec", "containers"})[1]),
            R"({"name":"autoscaler","resources":{"limits":{"cpu":"500m","memory":"512Mi"},)"
            R"("requests":{"cpu":"500m","memory":"512Mi"}}})");
  const Json given =
      head_of(adapter, object("", "{enableInTreeAutoscaling: true, autoscalerOptions: {resources: {}}}"));
  EXPECT_EQ(canonical_json(array_at(given, {"spec", "containers"})[1]), R"({"name":"autoscaler","resources":{}})");
  const Json safe = head_of(adapter, object("", "{gcsFaultToleranceOptions: {}}"));
  EXPECT_EQ(canonical_json(*find_path(array_at(safe, {"spec", "containers"})[0], {"resources", "requests"})),
            R"({"cpu":"200m","memory":"1Gi"})");
}

// The pod that cleans up Redis uses the quota of the head, which keeps what it asks for.
TEST(Ray, AHeadThatIsCleanedUpAsksForNoLess) {
  const auto resources = [](std::string_view given) {
    const Json job = yaml(
        "{spec: {gcsFaultToleranceOptions: {}, headGroupSpec: {template: {spec: {containers: [{name: h, "
        "resources: " +
        std::string(given) + "}]}}}}}");
    return canonical_json(
        *find_path(array_at(head_of(job_of("RayCluster"), job), {"spec", "containers"})[0], {"resources"}));
  };
  EXPECT_EQ(resources("{requests: {cpu: 20, memory: 1Gi}}"), R"({"requests":{"cpu":20,"memory":"1Gi"}})");
  EXPECT_EQ(resources("{limits: {cpu: '20', memory: 100Mi}}"),
            R"({"limits":{"cpu":"20","memory":"100Mi"},"requests":{"memory":"256Mi"}})");
  EXPECT_EQ(resources("{limits: {cpu: 4}, requests: {cpu: 100m}}"),
            R"({"limits":{"cpu":4},"requests":{"cpu":"200m","memory":"256Mi"}})");
}

TEST(Ray, TheSubmitterIsAPodOrAContainerOfTheHead) {
  const auto adapter = job_of("RayJob");
  const Json pod = object("rayClusterSpec");
  const auto pod_sets = adapter.pod_sets(pod);
  EXPECT_THAT(support::names_and_counts(pod_sets), ElementsAre("head 1", "small 3", "wide 8", "submitter 1"));
  EXPECT_EQ(string_at(array_at(*pod_sets.back().template_, {"spec", "containers"})[0], {"image"}), "r");
  EXPECT_EQ(support::difference_after_a_stop(adapter, pod), "");
  const Json running = support::started(adapter, pod);
  EXPECT_EQ(string_at(running, {"spec", "submitterPodTemplate", "spec", "nodeSelector", "tier"}), "a");

  const Json mine = object("rayClusterSpec", "{submitterPodTemplate: {spec: {containers: [{name: mine}]}}}");
  EXPECT_EQ(string_at(array_at(*adapter.pod_sets(mine).back().template_, {"spec", "containers"})[0], {"name"}), "mine");
  EXPECT_EQ(support::difference_after_a_stop(adapter, mine), "");

  const Json sidecar = object("rayClusterSpec", "{submissionMode: SidecarMode}");
  EXPECT_THAT(support::names_and_counts(adapter.pod_sets(sidecar)), ElementsAre("head 1", "small 3", "wide 8"));
  EXPECT_EQ(string_at(array_at(head_of(adapter, sidecar), {"spec", "containers"})[1], {"name"}), "ray-job-submitter");
}

}  // namespace
}  // namespace berth::jobs::kinds::ray_test
