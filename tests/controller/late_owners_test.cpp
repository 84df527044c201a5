// A watch is late: the owner of a job or of a workload exists, and the cache does not have it yet.
#include <gtest/gtest.h>

#include "controller/kinds_fixture.h"
#include "controller/late_client.h"
#include "controller/pods_fixture.h"
#include "jobs/pods/stateful_set.h"

namespace berth::controller::late_owners_test {
namespace {

const api::GroupVersionResource kSets{"apps", "v1", "statefulsets"};

class LateOwners : public PodsTest {
 protected:
  LateOwners() : PodsTest({.manage_pods = true, .manage_stateful_sets = true}, managing_sets()) {
    controller.emplace(late, executor, options);
    controller->start();
    controller->lead();
    pass();
  }
  ~LateOwners() override { controller.reset(); }
  static ControllerOptions managing_sets() {
    ControllerOptions with = managing_pods();
    with.manage_stateful_sets = true;
    return with;
  }
  Json job(const std::string& name, const std::string& owner = "") {
    return make(api::kJobs, "Job", "default",
                "{metadata: {name: " + name + ", labels: {kueue.x-k8s.io/queue-name: q}" + owner +
                    "}, spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, "
                    "resources: {requests: {cpu: 1}}}]}}}}");
  }
  static std::string owned_by(const std::string& name, std::string_view uid) {
    return ", ownerReferences: [{apiVersion: batch/v1, kind: Job, controller: true, name: " + name +
           ", uid: " + std::string(uid) + "}]";
  }

  LateClient late{*server};
};

class LateKinds : public KindsTest {
 protected:
  LateKinds() {
    install_kind("jobsets");
    controller.emplace(late, executor, all_kinds());
    controller->start();
    controller->lead();
    pass(60);
  }
  ~LateKinds() override { controller.reset(); }

  LateClient late{*server};
};

TEST_F(LateKinds, AJobBelowAQueuedOneGetsNoWorkloadOfItsOwn) {
  late.be_late("jobsets", "parent");
  const Json parent = job_set("parent", 1);
  child_of(parent, "child", "kueue.x-k8s.io/queue-name: q");
  pass(10);
  EXPECT_TRUE(workloads().empty());
  EXPECT_GT(late.questions, 0);
  late.catch_up();
  pass(60);
  ASSERT_EQ(workloads().size(), 1u) << "the child follows its owner";
  EXPECT_TRUE(string_at(workloads().front(), {"metadata", "name"}).starts_with("jobset-parent-"));
}

// A new leader reads the workloads again, its other caches may be behind.
TEST_F(LateOwners, AWorkloadIsNoOrphanWhileItsJobExists) {
  late.be_late("jobs", "a");
  const Json made = job("a");
  make(
      api::kWorkloads, "Workload", "default",
      "{metadata: {name: job-a-12345, finalizers: [kueue.x-k8s.io/resource-in-use], labels: {kueue.x-k8s.io/job-uid: " +
          std::string(string_at(made, {"metadata", "uid"})) + "}" +
          owned_by("a", string_at(made, {"metadata", "uid"})) +
          "}, spec: {queueName: q, active: true, podSets: [{name: main, count: 1, template: {spec: {restartPolicy: "
          "Never, "
          "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]}}");
  pass(10);
  EXPECT_EQ(condition(workload("job-a-12345"), "Finished"), "");
  EXPECT_GT(late.questions, 0);
  late.catch_up();
  pass(60);
  ASSERT_EQ(workloads().size(), 1u);
  EXPECT_EQ(condition(workloads().front(), "Admitted"), "True Admitted");
  EXPECT_FALSE(bool_at(get(api::kJobs, "default", "a").body, {"spec", "suspend"}, true));
}

TEST_F(LateOwners, AWorkloadWhoseJobIsGoneIsFinished) {
  late.be_late("jobs", "a");
  make(api::kWorkloads, "Workload", "default",
       "{metadata: {name: job-a-12345, finalizers: [kueue.x-k8s.io/resource-in-use], labels: {kueue.x-k8s.io/job-uid: "
       "u}" +
           owned_by("a", "u") +
           "}, spec: {queueName: q, active: true, podSets: [{name: main, count: 1, template: {spec: {restartPolicy: "
           "Never, "
           "containers: [{name: c, image: i}]}}}]}}");
  pass(10);
  EXPECT_FALSE(exists(api::kWorkloads, "default", "job-a-12345")) << "the garbage collector could delete it";
  EXPECT_EQ(late.questions, 1) << "asked once";
}

TEST_F(LateOwners, TheGroupOfAStatefulSetIsNoOrphanWhileItExists) {
  late.be_late("statefulsets", "a");
  const Json set =
      make(kSets, "StatefulSet", "default",
           "{metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {replicas: 1, serviceName: '', "
           "selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: "
           "[{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}}}");
  const std::string uid(string_at(set, {"metadata", "uid"})), name = jobs::groups_of_stateful_set(set).own;
  make(api::kWorkloads, "Workload", "default",
       "{metadata: {name: " + name +
           ", annotations: {kueue.x-k8s.io/is-group-workload: 'true'}, finalizers: [kueue.x-k8s.io/resource-in-use], "
           "ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: a, uid: " +
           uid +
           "}]}, spec: {queueName: q, active: true, podSets: [{name: main, count: 1, template: {metadata: {}, spec: "
           "{containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}}]}}");
  pass(10);
  EXPECT_EQ(condition(workload(name), "Finished"), "");
  late.catch_up();
  pass(60);
  EXPECT_EQ(condition(workload(name), "Finished"), "");
  EXPECT_EQ(condition(workload(name), "Admitted"), "True Admitted");
}

}  // namespace
}  // namespace berth::controller::late_owners_test
