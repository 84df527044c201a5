// Objects of Kueue's older API version (v1beta1) on the embedded server behave like those of v1beta2.
#include <gtest/gtest.h>

#include "api/status.h"
#include "base/yaml.h"
#include "embedded/simulate/world.h"

namespace berth::simulate::versions_test {
namespace {

Json yaml(std::string_view text) { return parse_yaml(text).value().at(0); }

class VersionsTest : public testing::Test {
 protected:
  VersionsTest() : world_(World::make({}).value()) {}
  Json get(std::string_view version, std::string_view kind, std::string_view ns, std::string_view name) {
    auto object = world_->get("kueue.x-k8s.io/" + std::string(version), kind, ns, name);
    EXPECT_TRUE(object) << (object ? "" : object.error().message);
    return object ? *object : Json();
  }
  std::string error(std::string_view text) {
    const auto created = world_->create(yaml(text));
    return created ? "created" : created.error().message;
  }
  std::unique_ptr<World> world_;
};

TEST_F(VersionsTest, AnOldClusterQueueAdmits) {
  for (
      const char* text :
      {"{apiVersion: kueue.x-k8s.io/v1beta1, kind: ResourceFlavor, metadata: {name: f}}",
       R"({apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: q}, spec: {cohort: all, namespaceSelector: {},
               flavorFungibility: {whenCanBorrow: Borrow, whenCanPreempt: Preempt},
               resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]}]}})",
       "{apiVersion: kueue.x-k8s.io/v1beta1, kind: LocalQueue, metadata: {name: l, namespace: default}, spec: "
       "{clusterQueue: q}}",
       R"({apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default, labels: {kueue.x-k8s.io/queue-name: l}},
               spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}})"}) {
    EXPECT_EQ(error(text), "created");
  }
  world_->run_for(std::chrono::seconds(5));
  const Json now = get("v1beta2", "ClusterQueue", "", "q");
  EXPECT_EQ(string_at(now, {"spec", "cohortName"}), "all");
  EXPECT_EQ(string_at(now, {"spec", "flavorFungibility", "whenCanBorrow"}), "MayStopSearch");
  const Json before = get("v1beta1", "ClusterQueue", "", "q");
  EXPECT_EQ(string_at(before, {"apiVersion"}), "kueue.x-k8s.io/v1beta1");
  EXPECT_EQ(string_at(before, {"spec", "cohort"}), "all");
  EXPECT_EQ(int_at(before, {"status", "reservingWorkloads"}), 1) << to_string(before);
  EXPECT_EQ(find_path(before, {"spec", "cohortName"}), nullptr);
  const Json local = get("v1beta1", "LocalQueue", "default", "l");
  EXPECT_EQ(array_at(local, {"status", "flavorUsage"}).size(), 1u) << to_string(local);
}

TEST_F(VersionsTest, WebhooksSeeOldObjectsToo) {
  EXPECT_EQ(error(
                R"({apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: q}, spec: {cohort: all,
      resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: -4}]}]}]}})"),
            "admission webhook \"vclusterqueue.kb.io\" denied the request: "
            "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: "
            "Invalid value: -4: must be greater than or equal to 0");
}

TEST_F(VersionsTest, AnUpdateThroughTheOldVersionKeepsWhatTheNewOneSays) {
  EXPECT_EQ(error("{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: c}, spec: {parentName: root}}"),
            "created");
  EXPECT_EQ(error("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: q}, spec: {cohortName: c, "
                  "namespaceSelector: {}}}"),
            "created");
  api::RestRequest patch;
  patch.verb = api::Verb::kPatch;
  patch.resource = {"kueue.x-k8s.io", "v1beta1", "clusterqueues"};
  patch.name = "q";
  patch.body = yaml("{spec: {cohort: d, admissionChecks: [a]}}");
  const auto answer = world_->call(patch);
  ASSERT_EQ(answer.code, 200) << to_string(answer.body);
  const Json now = get("v1beta2", "ClusterQueue", "", "q");
  EXPECT_EQ(string_at(now, {"spec", "cohortName"}), "d");
  EXPECT_EQ(to_string(*find_path(now, {"spec", "admissionChecksStrategy"})), R"({"admissionChecks":[{"name":"a"}]})");
}

TEST_F(VersionsTest, AnOldWorkloadIsReadAndWrittenAsSuch) {
  EXPECT_EQ(error(R"({apiVersion: kueue.x-k8s.io/v1beta1, kind: Workload, metadata: {name: w, namespace: default},
      spec: {queueName: nowhere, priority: 5, priorityClassName: high, priorityClassSource: kueue.x-k8s.io/workloadpriorityclass,
             podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, image: i}]}}}]}})"),
            "created");
  world_->run_for(std::chrono::seconds(2));
  EXPECT_EQ(to_string(*find_path(get("v1beta2", "Workload", "default", "w"), {"spec", "priorityClassRef"})),
            R"({"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"high"})");
  const Json before = get("v1beta1", "Workload", "default", "w");
  EXPECT_EQ(string_at(before, {"spec", "priorityClassSource"}), "kueue.x-k8s.io/workloadpriorityclass");
  EXPECT_EQ(string_at(array_at(before, {"status", "conditions"}).at(0), {"reason"}), "Misconfigured")
      << to_string(before);
}

}  // namespace
}  // namespace berth::simulate::versions_test
