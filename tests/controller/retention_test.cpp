// objectRetentionPolicies.workloads.afterDeactivatedByKueue: the job is deleted with its workload.
// https://kueue.sigs.k8s.io/docs/tasks/manage/setup_object_retention_policy/
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/kinds_fixture.h"

namespace berth::controller::retention_test {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

ControllerOptions forgetful() {
  ControllerOptions options = all_kinds();
  options.manage_pods = true;
  options.engine.retention.after_deactivated_by_kueue = std::chrono::seconds(20);
  return options;
}

class Retention : public KindsTest {
 protected:
  Retention() : KindsTest(forgetful()) {}
};

// Else the job would get another workload, and run again.
TEST_F(Retention, AJobOfAnyKindGoesWithItsWorkload) {
  install_kind("jobsets");
  pass(60);
  job_set("a", 2, "kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/max-exec-time-seconds: '8'");
  pass(20);
  ASSERT_TRUE(suspended(kJobSets, "a")) << "its time limit is exceeded";
  ASSERT_EQ(workloads().size(), 1u);
  EXPECT_FALSE(bool_at(workloads()[0], {"spec", "active"}, true));
  pass(120);
  EXPECT_FALSE(exists(kJobSets, "default", "a"));
  EXPECT_THAT(workloads(), IsEmpty());
  EXPECT_THAT(events("a"), Contains("Deleted: Deleted job: deactivation retention period expired"));
}

// Of an owner that Berth does not know.
TEST_F(Retention, AWorkloadWhoseJobCannotBeDeletedStays) {
  make(
      api::kWorkloads, "Workload", "default",
      "{metadata: {name: w, ownerReferences: [{apiVersion: x.example.org/v1, kind: X, name: x, uid: u, controller: "
      "true}]}, spec: {queueName: q, maximumExecutionTimeSeconds: 8, podSets: [{name: main, count: 1, template: {spec: "
      "{containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]}}");
  pass(15);
  pass(120);
  ASSERT_EQ(workloads().size(), 1u);
  EXPECT_FALSE(bool_at(workloads()[0], {"spec", "active"}, true));
}

// A StatefulSet makes its pods again.
TEST_F(Retention, PodsThatTheirOwnerMakesAgainStay) {
  const auto owner = [](std::string_view version, std::string_view kind, const Json& object) {
    return JsonObject{{"apiVersion", version},
                      {"kind", kind},
                      {"name", string_at(object, {"metadata", "name"})},
                      {"uid", string_at(object, {"metadata", "uid"})}};
  };
  const Json set =
      make({"apps", "v1", "statefulsets"}, "StatefulSet", "default",
           "{metadata: {name: s}, spec: {replicas: 0, serviceName: s, selector: {matchLabels: {a: b}}, template: "
           "{metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}");
  const Json pod =
      make(api::kPods, "Pod", "default", "{metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}");
  Json workload = parse_yaml(
                      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w}, spec: {queueName: q, "
                      "maximumExecutionTimeSeconds: 8, podSets: [{name: main, count: 1, template: {spec: {containers: "
                      "[{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]}}")
                      .value()
                      .front();
  ensure_path(workload, {"metadata", "ownerReferences"}) =
      JsonArray{owner("apps/v1", "StatefulSet", set), owner("v1", "Pod", pod)};
  auto create_it = request(api::Verb::kCreate, api::kWorkloads, "default");
  create_it.body = workload;
  ASSERT_TRUE(call(std::move(create_it)).ok());
  pass(120);
  ASSERT_EQ(workloads().size(), 1u);
  EXPECT_FALSE(bool_at(workloads()[0], {"spec", "active"}, true));
  EXPECT_TRUE(exists(api::kPods, "default", "p"));
}

}  // namespace
}  // namespace berth::controller::retention_test
