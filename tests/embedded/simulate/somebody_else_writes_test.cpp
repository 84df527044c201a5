// Other clients change or delete objects that the controller manages. This never stops the controller, and no object
// is kept for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/meta.h"
#include "base/merge_patch.h"
#include "base/yaml.h"
#include "controller/controller.h"
#include "embedded/simulate/storm.h"
#include "embedded/simulate/world.h"

namespace berth::simulation::somebody_else_writes_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kKueue = "kueue.x-k8s.io/v1beta2";
constexpr std::string_view kVolcano = "scheduling.volcano.sh/v1beta1";

Json yaml_of(const std::string& text) { return parse_yaml(text).value().front(); }

class SomebodyElseWrites : public testing::Test {
 protected:
  SomebodyElseWrites() {
    simulate::WorldOptions options;
    options.start = parse_time("2026-01-01T00:00:00Z").value();
    options.nodes = "1x1x2";
    options.node_resources = "cpu=8,memory=32Gi";
    world_ = simulate::World::make(options).value();
    create("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}");
    create(
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: q}, spec: "
        "{namespaceSelector: {}, resourceGroups: "
        "[{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]}]}}");
    create(
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: default}, "
        "spec: {clusterQueue: q}}");
    pass();
  }

  void pass(Duration d = std::chrono::seconds(5)) { world_->run_for(d); }
  void create(const std::string& text) {
    const auto made = world_->create(yaml_of(text));
    ASSERT_TRUE(made) << made.error().message;
  }
  void create_job(const std::string& name, int pods = 1) {
    create("{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
           ", namespace: default, labels: {kueue.x-k8s.io/queue-name: q}}, spec: "
           "{suspend: true, parallelism: " +
           std::to_string(pods) + ", completions: " + std::to_string(pods) +
           ", template: {metadata: {annotations: {berth.dev/run-for: 10m}}, spec: {restartPolicy: Never, "
           "containers: [{name: c, image: i, resources: "
           "{requests: {cpu: 1}}}]}}}}");
    pass();
  }
  void create_workload(const std::string& name, const std::string& spec, const std::string& metadata = "") {
    create("{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: " + name + ", namespace: default" +
           metadata + "}" + (spec.empty() ? "" : ", spec: " + spec) + "}");
    pass();
  }
  api::RestResponse patch(std::string_view version, std::string_view kind, const std::string& name,
                          const std::string& body, const std::string& subresource = "") {
    auto request = world_->request_for(version, kind, "default", name).value();
    request.verb = api::Verb::kPatch;
    request.subresource = subresource;
    request.body = yaml_of(body);
    auto response = world_->call(std::move(request));
    pass();
    return response;
  }
  void remove(std::string_view version, std::string_view kind, const std::string& name) {
    auto request = world_->request_for(version, kind, "default", name).value();
    request.verb = api::Verb::kDelete;
    EXPECT_TRUE(world_->call(std::move(request)).ok());
    pass();
  }
  std::vector<Json> workloads() { return list_all(*world_, kKueue, "Workload"); }
  Json workload(const std::string& name) { return world_->get(kKueue, "Workload", "default", name).value_or(Json()); }
  static api::Condition condition(const Json& object, std::string_view type) {
    const auto conditions = api::decode_conditions(Json(array_at(object, {"status", "conditions"})));
    const auto* found = api::find_condition(conditions, type);
    return found == nullptr ? api::Condition() : *found;
  }

  std::unique_ptr<simulate::World> world_;
};

constexpr const char* kPods =
    "{queueName: q, podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, containers: "
    "[{name: c, "
    "image: i, resources: {requests: {cpu: 1}}}]}}}]}";

TEST_F(SomebodyElseWrites, ADeletedWorkloadThatNoJobControlsGoes) {
  create_workload("free", kPods, ", finalizers: [kueue.x-k8s.io/resource-in-use]");
  ASSERT_TRUE(condition(workload("free"), "Admitted").status);
  remove(kKueue, "Workload", "free");
  EXPECT_THAT(workloads(), IsEmpty());
}

TEST_F(SomebodyElseWrites, ADeletedWorkloadWhoseOwnersWereRemovedGoes) {
  create_job("j");
  ASSERT_EQ(workloads().size(), 1u);
  const std::string name(string_at(workloads()[0], {"metadata", "name"}));
  EXPECT_TRUE(patch(kKueue, "Workload", name, "{metadata: {ownerReferences: null}}").ok());
  remove(kKueue, "Workload", name);
  ASSERT_EQ(workloads().size(), 1u) << "the job has a new one";
  EXPECT_FALSE(array_at(workloads()[0], {"metadata", "ownerReferences"}).empty());
}

TEST_F(SomebodyElseWrites, AJobGetsItsWorkloadWhenTheNameIsFree) {
  create_job("j");
  const std::string name(string_at(workloads()[0], {"metadata", "name"}));
  const Json queue = world_->get(kKueue, "LocalQueue", "default", "q").value();
  const std::string owner =
      "{apiVersion: " + std::string(kKueue) +
      ", kind: LocalQueue, name: q, controller: true, uid: " + std::string(string_at(queue, {"metadata", "uid"})) + "}";
  EXPECT_TRUE(patch(kKueue, "Workload", name, "{metadata: {ownerReferences: [" + owner + "], finalizers: null}}").ok());
  pass(std::chrono::minutes(1));
  const std::string stranger(string_at(workload(name), {"metadata", "uid"}));
  ASSERT_EQ(workloads().size(), 1u) << "the name is taken";
  remove(kKueue, "Workload", name);
  pass();
  EXPECT_NE(string_at(workload(name), {"metadata", "uid"}), stranger);
  EXPECT_TRUE(condition(workload(name), "Admitted").status);
}

TEST_F(SomebodyElseWrites, AWorkloadWithoutPodSetsWaitsWithAReason) {
  create_workload("empty", "{queueName: q, maximumExecutionTimeSeconds: 1}");
  const auto quota = condition(workload("empty"), "QuotaReserved");
  EXPECT_EQ(quota.reason, "Misconfigured");
  EXPECT_THAT(quota.message, HasSubstr("spec.podSets is empty"));
  const auto version = std::string(string_at(workload("empty"), {"metadata", "resourceVersion"}));
  pass(std::chrono::hours(1));
  EXPECT_EQ(string_at(workload("empty"), {"metadata", "resourceVersion"}), version) << "it is left alone";
}

TEST_F(SomebodyElseWrites, AWorkloadWithoutASpecCanBeChanged) {
  create_workload("bare", "", ", finalizers: [example.com/keep]");
  EXPECT_TRUE(patch(kKueue, "Workload", "bare",
                    "{status: {conditions: [{type: Admitted, status: 'True', reason: x, message: '', "
                    "lastTransitionTime: "
                    "'2026-01-01T00:00:00Z'}]}}",
                    "status")
                  .ok());
  const auto response = patch(kKueue, "Workload", "bare", "{metadata: {finalizers: null}}");
  EXPECT_TRUE(response.ok()) << to_string(response.body);
}

TEST_F(SomebodyElseWrites, AnAdmissionThatNamesNoClusterQueueIsNone) {
  create_job("big", 9);  // more cpu than the quota
  const std::string name(string_at(workloads()[0], {"metadata", "name"}));
  EXPECT_TRUE(patch(kKueue, "Workload", name, "{status: {admission: {podSetAssignments: []}}}", "status").ok());
  EXPECT_TRUE(patch(kKueue, "Workload", name, "{spec: {active: false}}").ok());
  pass(std::chrono::minutes(1));
  EXPECT_EQ(condition(workload(name), "QuotaReserved").reason, "Deactivated") << to_string(workload(name));
}

TEST_F(SomebodyElseWrites, AStatusOfAVolcanoQueueIsPutRight) {
  create("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: v}, spec: {weight: 1}}");
  pass();
  EXPECT_TRUE(patch(kVolcano, "Queue", "v", "{status: {running: 7, completed: 3}}", "status").ok());
  pass(std::chrono::minutes(1));
  const Json queue = world_->get(kVolcano, "Queue", "", "v").value();
  EXPECT_EQ(int_at(queue, {"status", "running"}), 0) << to_string(queue);
  EXPECT_EQ(int_at(queue, {"status", "completed"}), 0) << to_string(queue);
}

TEST_F(SomebodyElseWrites, APodGroupThatWasLetInIsChargedByWhatItAsksForNow) {
  create(
      "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g, namespace: default}, "
      "spec: {minMember: 1, queue: default, "
      "minResources: {cpu: 4}}}");
  pass(std::chrono::seconds(30));
  ASSERT_EQ(string_at(world_->get(kVolcano, "PodGroup", "default", "g").value(), {"status", "phase"}), "Inqueue");
  EXPECT_TRUE(patch(kVolcano, "PodGroup", "g", "{spec: {minResources: {cpu: 1}}}").ok());
  pass(std::chrono::seconds(30));
  const Json queue = world_->get(kVolcano, "Queue", "", "default").value();
  EXPECT_EQ(string_at(queue, {"status", "allocated", "cpu"}), "1") << to_string(queue);
}

TEST_F(SomebodyElseWrites, ANodeCannotHaveLessThanNothing) {
  const auto nodes = list_all(*world_, "v1", "Node");
  const auto response = patch("v1", "Node", std::string(string_at(nodes.at(0), {"metadata", "name"})),
                              "{status: {capacity: {pods: '-1'}}}", "status");
  EXPECT_EQ(response.code, 422);
  EXPECT_THAT(to_string(response.body), HasSubstr("must be greater than or equal to 0"));
}

}  // namespace
}  // namespace berth::simulation::somebody_else_writes_test
