// Volcano Jobs on the pretend cluster: the test sets their PodGroups to Inqueue, the cluster does the rest.
#include <gtest/gtest.h>

#include "api/resources.h"
#include "base/embedded.h"
#include "embedded/cluster/pod_group_status.h"
#include "embedded/cluster/pretend_cluster.h"

namespace berth::cluster::vcjob_test {
namespace {

using namespace testing_support;

ClusterOptions options() {
  ClusterOptions options;
  options.nodes = "2";
  options.node_resources = "cpu=4";
  options.vcjobs = true;
  return options;
}

class VcJobs : public testing::Test {
 protected:
  VcJobs() : cluster(options()) {
    for (const auto& file : embedded::crds()) {
      if (file.name.find("volcano") == std::string_view::npos) continue;
      auto request = cluster.request(api::Verb::kCreate, {"apiextensions.k8s.io", "v1", "customresourcedefinitions"});
      request.ns.clear();
      request.body = yaml(file.content);
      cluster.expect_ok(cluster.call(std::move(request)));
    }
    cluster.pass(40);  // until the caches have retried
  }
  void submit(std::string_view spec) {
    Json job = yaml("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j}}");
    ensure_path(job, {"spec"}) = yaml(spec);
    cluster.create(api::kVolcanoJobs, std::move(job));
    cluster.pass(1);
  }
  // Two pods with one cpu each; they run for `run_for`.
  void submit_two(std::string_view run_for, std::string_view more = "") {
    submit("{minAvailable: 2, queue: q, " + std::string(more) +
           " tasks: [{name: a, replicas: 2, minAvailable: 2, template: {metadata: {annotations: {berth.dev/run-for: " +
           std::string(run_for) +
           "}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]}");
  }
  Json group() {
    const auto all = cluster.list(api::kPodGroups);
    return all.size() == 1 ? all[0] : Json();
  }
  std::string group_phase() { return std::string(string_at(group(), {"status", "phase"})); }
  void set_group(std::string_view phase) {
    auto request = cluster.request(api::Verb::kPatch, api::kPodGroups, string_at(group(), {"metadata", "name"}));
    request.body = yaml("{status: {phase: " + std::string(phase) + "}}");
    cluster.expect_ok(cluster.call(std::move(request)));
    cluster.pass(2);
  }
  std::string phase() {
    return std::string(string_at(cluster.get(api::kVolcanoJobs, "j"), {"status", "state", "phase"}));
  }
  void command(std::string_view action, std::string_view uid = "") {
    Json order = yaml(
        "{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {generateName: c-}, "
        "target: {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: j}}");
    ensure_path(order, {"action"}) = action;
    const Json job = cluster.get(api::kVolcanoJobs, "j");
    ensure_path(order, {"target", "uid"}) = uid.empty() ? string_at(job, {"metadata", "uid"}) : uid;
    cluster.create(api::kVolcanoCommands, std::move(order));
    cluster.pass(60);
  }

  Cluster cluster;
};

TEST_F(VcJobs, RunOnceTheirGroupIsLetIn) {
  submit_two("30s");
  EXPECT_EQ(phase(), "Pending");
  EXPECT_EQ(int_at(group(), {"spec", "minMember"}), 2);
  EXPECT_EQ(string_at(group(), {"spec", "minResources", "cpu"}), "2");
  EXPECT_EQ(string_at(group(), {"spec", "queue"}), "q");
  cluster.pass(60);
  EXPECT_TRUE(cluster.list(kPods).empty()) << "no pods before";
  set_group("Inqueue");
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(group_phase(), "Running");
  EXPECT_EQ(int_at(cluster.get(api::kVolcanoJobs, "j"), {"status", "running"}), 2);
  EXPECT_EQ(int_at(group(), {"status", "running"}), 2);
  cluster.pass(40);
  EXPECT_EQ(phase(), "Completed");
  EXPECT_EQ(group_phase(), "Completed");
  EXPECT_EQ(int_at(cluster.get(api::kVolcanoJobs, "j"), {"status", "succeeded"}), 2);
}

TEST_F(VcJobs, WaitAndRunAgainWhenTheirQuotaIsTakenBack) {
  submit_two("1h");
  set_group("Inqueue");
  ASSERT_EQ(phase(), "Running");
  // Evict as the controller does: set the group to Pending, then delete its pods.
  auto request = cluster.request(api::Verb::kPatch, api::kPodGroups, string_at(group(), {"metadata", "name"}));
  request.body = yaml("{status: {phase: Pending}}");
  cluster.expect_ok(cluster.call(std::move(request)));
  for (const Json& pod : cluster.list(kPods)) cluster.remove(kPods, string_at(pod, {"metadata", "name"}));
  cluster.pass(60);
  EXPECT_EQ(phase(), "Pending");
  EXPECT_TRUE(cluster.list(kPods).empty());
  set_group("Inqueue");
  cluster.pass(20);
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(int_at(cluster.get(api::kVolcanoJobs, "j"), {"status", "retryCount"}), 0);
}

TEST_F(VcJobs, ATakenPodIsReplacedAfterAWhile) {
  submit_two("1h");
  set_group("Inqueue");
  cluster.remove(kPods, "j-a-0", yaml("{gracePeriodSeconds: 0}"));
  cluster.pass(5);
  EXPECT_EQ(cluster.list(kPods).size(), 1u) << "not at once";
  cluster.pass(10);
  EXPECT_EQ(cluster.list(kPods).size(), 2u);
}

TEST_F(VcJobs, StopAndGoOnByCommand) {
  submit_two("1h");
  set_group("Inqueue");
  command("AbortJob", "of-another");
  EXPECT_EQ(phase(), "Running") << "a job of this name that was before";
  EXPECT_TRUE(cluster.list(api::kVolcanoCommands).empty());
  command("AbortJob");
  EXPECT_EQ(phase(), "Aborted");
  EXPECT_TRUE(cluster.list(kPods).empty());
  EXPECT_TRUE(cluster.list(api::kPodGroups).empty()) << "its quota is free";
  EXPECT_TRUE(cluster.list(api::kVolcanoCommands).empty());
  command("ResumeJob");
  EXPECT_EQ(phase(), "Pending");
  set_group("Inqueue");
  EXPECT_EQ(phase(), "Running");
  command("TerminateJob");
  EXPECT_EQ(phase(), "Terminated");
  command("ResumeJob");
  EXPECT_EQ(phase(), "Terminated") << "for good";
  EXPECT_TRUE(cluster.list(api::kVolcanoCommands).empty());
}

TEST_F(VcJobs, FailWhenTheirPodsDo) {
  submit_two("5s, berth.dev/exit-code: '1'");
  set_group("Inqueue");
  cluster.pass(10);
  EXPECT_EQ(phase(), "Failed");
  EXPECT_EQ(int_at(cluster.get(api::kVolcanoJobs, "j"), {"status", "failed"}), 2);
}

TEST_F(VcJobs, RestartUntilTheirTriesAreUsedUp) {
  submit_two("5s, berth.dev/exit-code: '1'", "maxRetry: 2, policies: [{event: PodFailed, action: RestartJob}],");
  set_group("Inqueue");
  cluster.pass(60);
  EXPECT_EQ(phase(), "Pending") << "it asks for quota again";
  EXPECT_EQ(int_at(cluster.get(api::kVolcanoJobs, "j"), {"status", "retryCount"}), 1);
  set_group("Inqueue");
  cluster.pass(60);
  EXPECT_EQ(phase(), "Failed");
}

TEST_F(VcJobs, TakeEverythingAlongWhenTheyAreDeleted) {
  submit_two("1h");
  set_group("Inqueue");
  cluster.remove(api::kVolcanoJobs, "j");
  cluster.pass(60);
  EXPECT_TRUE(cluster.list(kPods).empty());
  EXPECT_TRUE(cluster.list(api::kPodGroups).empty());
}

TEST(PodGroupStatus, FollowsItsPods) {
  api::volcano::PodGroup group;
  group.min_member = 2;
  group.status.phase = api::volcano::PodGroupPhase::kInqueue;
  const auto pod = [](std::string_view phase, std::string_view node) {
    Json out = JsonObject{{"metadata", JsonObject()}};
    ensure_path(out, {"spec", "nodeName"}) = node;
    ensure_path(out, {"status", "phase"}) = phase;
    return std::make_shared<const Json>(std::move(out));
  };
  using Phase = api::volcano::PodGroupPhase;
  const auto phase_with = [&](const std::vector<JsonPtr>& pods, bool more = false) {
    return group_status(group, pods, more).phase;
  };
  EXPECT_EQ(phase_with({}), Phase::kInqueue);
  EXPECT_EQ(phase_with({pod("Pending", "n"), pod("Pending", "")}), Phase::kInqueue);
  EXPECT_EQ(phase_with({pod("Pending", "n"), pod("Running", "n")}), Phase::kRunning);
  EXPECT_EQ(phase_with({pod("Succeeded", "n"), pod("Failed", "n")}), Phase::kCompleted);
  EXPECT_EQ(phase_with({pod("Succeeded", "n"), pod("Succeeded", "n")}, true), Phase::kRunning);
  group.status.phase = Phase::kPending;
  EXPECT_EQ(phase_with({pod("Running", "n"), pod("Running", "n")}), Phase::kPending);
  EXPECT_EQ(group_status(group, {pod("Running", "n"), pod("Failed", "n")}, false).running, 1);
}

}  // namespace
}  // namespace berth::cluster::vcjob_test
