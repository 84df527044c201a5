// A RayJob that scales itself, as KubeRay and its autoscaler play it: the sizes are those of the RayCluster that it
// makes.
#include <gmock/gmock.h>

#include <string>

#include "api/kueue/types.h"
#include "base/yaml.h"
#include "embedded/simulate/storm.h"
#include "embedded/simulate/world.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::simulation::elastic_ray_job_test {
namespace {

using testing::ElementsAre;

constexpr Duration kSoon = std::chrono::seconds(20);

Json yaml(const std::string& text) { return parse_yaml(text).value().front(); }

// The cluster of the RayJob, with so many workers.
std::string spec_of_cluster(int workers) {
  const std::string pod =
      "{metadata: {annotations: {a: b}}, spec: {schedulingGates: [{name: kueue.x-k8s.io/elastic-job}], containers: "
      "[{name: c, image: i, resources: {requests: {cpu: 1}}}]}}";
  return "{enableInTreeAutoscaling: true, autoscalerOptions: {resources: {requests: {cpu: 0}}}, headGroupSpec: "
         "{rayStartParams: {}, template: " +
         pod + "}, workerGroupSpecs: [{groupName: w, replicas: " + std::to_string(workers) +
         ", minReplicas: 0, maxReplicas: 50, rayStartParams: {}, template: " + pod + "}]}";
}

class ElasticRayJob : public testing::Test {
 protected:
  void SetUp() override {
    simulate::WorldOptions options;
    options.operators = false;  // the test is KubeRay
    options.external_kinds = "all";
    for (const auto& kind : jobs::kinds::shipped_job_kinds()) options.kinds.push_back({kind, true});
    std::vector<std::string> broken;
    world_ = make_world(options, broken);
    ASSERT_THAT(broken, ElementsAre());
    give("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}");
    give(
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}, "
        "resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: "
        "8}]}]}]}}");
    give(
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: default}, spec: "
        "{clusterQueue: cq}}");
    give(
        "{apiVersion: ray.io/v1, kind: RayJob, metadata: {name: train, namespace: default, labels: "
        "{kueue.x-k8s.io/queue-name: q}, annotations: {kueue.x-k8s.io/elastic-job: 'true'}}, spec: {entrypoint: e, "
        "submissionMode: HTTPMode, shutdownAfterJobFinishes: true, rayClusterSpec: " +
        spec_of_cluster(1) + "}}");
    world_->run_for(kSoon);
    ASSERT_EQ(suspended("RayJob", "train"), false);
    // KubeRay makes the cluster.
    const std::string uid(string_at(get("RayJob", "train"), {"metadata", "uid"}));
    give(
        "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: train-c, namespace: default, labels: "
        "{kueue.x-k8s.io/queue-name: q}, annotations: {kueue.x-k8s.io/elastic-job: 'true'}, ownerReferences: "
        "[{apiVersion: ray.io/v1, kind: RayJob, name: train, uid: " +
        uid + ", controller: true}]}, spec: " + spec_of_cluster(1) + "}");
    status("train-c");
    world_->run_for(kSoon);
  }

  void give(const std::string& text) {
    const auto made = world_->create(yaml(text));
    ASSERT_TRUE(made) << made.error().message;
  }
  void scale(int workers) {
    const auto scaled = world_->apply(
        yaml("{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: train-c, namespace: default}, spec: " +
             spec_of_cluster(workers) + "}"));
    ASSERT_TRUE(scaled) << scaled.error().message;
    world_->run_for(kSoon);
  }
  void status(const std::string& cluster) {
    auto request = world_->request_for("ray.io/v1", "RayJob", "default", "train").value();
    request.verb = api::Verb::kPatch;
    request.subresource = "status";
    request.patch_type = api::PatchType::kMerge;
    request.body = yaml("{status: {jobDeploymentStatus: Running, rayClusterName: " + cluster + "}}");
    const auto answer = world_->call(std::move(request));
    ASSERT_TRUE(answer.ok()) << to_string(answer.body);
  }
  Json get(std::string_view kind, std::string_view name) const {
    return world_->get("ray.io/v1", kind, "default", name).value();
  }
  bool suspended(std::string_view kind, std::string_view name) const {
    return bool_at(get(kind, name), {"spec", "suspend"});
  }
  // The unfinished slices: "3 Admitted".
  std::vector<std::string> slices() const {
    std::vector<std::string> out;
    for (const auto& json : list_all(*world_, "kueue.x-k8s.io/v1beta2", "Workload")) {
      const auto w = api::kueue::decode_workload(json).value();
      if (api::is_true(w.status.conditions, api::kueue::kFinished)) continue;
      out.push_back(std::to_string(w.pod_sets.back().count) +
                    (api::is_true(w.status.conditions, api::kueue::kAdmitted) ? " Admitted" : " Pending"));
    }
    std::ranges::sort(out);
    return out;
  }

  std::unique_ptr<simulate::World> world_;
};

TEST_F(ElasticRayJob, FollowsTheClusterThatItsAutoscalerChanges) {
  EXPECT_THAT(slices(), ElementsAre("1 Admitted"));
  scale(4);
  EXPECT_THAT(slices(), ElementsAre("4 Admitted"));
  scale(20);
  EXPECT_THAT(slices(), ElementsAre("20 Pending", "4 Admitted"));
  EXPECT_FALSE(suspended("RayJob", "train"));
  EXPECT_FALSE(suspended("RayCluster", "train-c")) << "the cluster runs while the job waits to grow";
  scale(6);
  EXPECT_THAT(slices(), ElementsAre("6 Admitted"));
  scale(2);
  EXPECT_THAT(slices(), ElementsAre("2 Admitted"));
  EXPECT_FALSE(suspended("RayCluster", "train-c"));
}

}  // namespace
}  // namespace berth::simulation::elastic_ray_job_test
