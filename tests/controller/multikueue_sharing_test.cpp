// Workers that are shared with others, or hostile; what is counted; the end of a manager's process.
#include "controller/multikueue_fixture.h"

namespace berth::controller::multikueue_sharing_test {
namespace {

using multikueue_fixture::Wire;
using std::chrono::minutes;
using std::chrono::seconds;

class SharedWorkers : public multikueue_fixture::MultiKueue {
 protected:
  explicit SharedWorkers(const ControllerOptions& options = {}) : MultiKueue(options) {}

  static std::string copy(const std::string& name, const std::string& annotations) {
    return "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: " + name +
           ", namespace: default, labels: {kueue.x-k8s.io/multikueue-origin: multikueue}, annotations: {" +
           annotations +
           "}}\nspec: {queueName: none, podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, "
           "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]}\n";
  }
};

TEST_F(SharedWorkers, WhatAnotherManagerWithTheSameOriginMadeIsLeft) {
  make_on("east", copy("theirs", "berth.dev/multikueue-manager: another"));
  make_on("east", copy("nobodys", "a: b"));
  make_on("east",
          "apiVersion: batch/v1\nkind: Job\nmetadata: {name: their-job, namespace: default, labels: "
          "{kueue.x-k8s.io/multikueue-origin: multikueue, kueue.x-k8s.io/prebuilt-workload-name: theirs}, annotations: "
          "{berth.dev/multikueue-manager: another}}\nspec: {suspend: true, template: {spec: {restartPolicy: Never, "
          "containers: [{name: c, image: i}]}}}\n");
  pass(minutes(3));
  EXPECT_FALSE(get("east", api::kWorkloads, "theirs").is_null());
  EXPECT_FALSE(job_on("east", "their-job").is_null());
  EXPECT_TRUE(get("east", api::kWorkloads, "nobodys").is_null()) << "garbage as before";
  EXPECT_EQ(activity("east"),
            "True Active: Connected, but another manager has the same origin: Workload default/theirs is not of this "
            "one. Give each manager a multiKueue.origin of its own; until then none deletes what the other made");
  EXPECT_EQ(activity("west"), "True Active: Connected");
  hold("west", true);
  job("a");
  pass(seconds(10));
  EXPECT_EQ(cluster_of("a"), "east") << "it goes on";
  const Json there = copy_on("east", "a");
  const auto own = string_at(there, {"metadata", "annotations", "berth.dev/multikueue-manager"});
  EXPECT_EQ(own, string_at(get("", api::kNamespaces, "kube-system", ""), {"metadata", "uid"}));
  EXPECT_FALSE(own.empty());
  EXPECT_EQ(string_at(job_on("east", "a"), {"metadata", "annotations", "berth.dev/multikueue-manager"}), own);
  remove("east", api::kJobs, "their-job");
  remove("east", api::kWorkloads, "theirs");
  pass(seconds(10));
  EXPECT_EQ(activity("east"), "True Active: Connected");
}

TEST_F(SharedWorkers, AJobOfAnotherManagerWithTheSameNameIsNotTaken) {
  make_on(
      "east",
      "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, namespace: default, labels: "
      "{kueue.x-k8s.io/multikueue-origin: multikueue}, annotations: {berth.dev/multikueue-manager: another}}\nspec: "
      "{suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}\n");
  hold("west", true);
  job("a");
  pass(minutes(1));
  EXPECT_FALSE(job_on("east", "a").is_null());
  hold("west", false);
  pass(minutes(2));
  EXPECT_EQ(cluster_of("a"), "west");
  EXPECT_FALSE(job_on("east", "a").is_null());
}

ControllerOptions small() {
  ControllerOptions options;
  options.multikueue.most_objects = 5;
  options.multikueue.most_bytes = 1u << 20;
  return options;
}

class HostileWorker : public SharedWorkers {
 protected:
  HostileWorker() : SharedWorkers(small()) {}
};

TEST_F(HostileWorker, ThatShowsTooManyObjectsCountsAsLost) {
  wires["east"]->cut();
  pass(minutes(1));
  for (int i = 0; i < 6; ++i) make_on("east", copy("w" + std::to_string(i), "a: b"));
  wires["east"]->heal();
  pass(minutes(4));
  EXPECT_EQ(activity("east").substr(0, activity("east").find(';')),
            "False TooManyObjects: it shows more than 5 objects or 1 MiB with the label "
            "kueue.x-k8s.io/multikueue-origin=multikueue: delete there what is not needed");
  job("a");
  pass(seconds(10));
  EXPECT_EQ(cluster_of("a"), "west");
  for (int i = 0; i < 6; ++i) remove("east", api::kWorkloads, "w" + std::to_string(i));
  pass(minutes(7));
  EXPECT_EQ(activity("east"), "True Active: Connected");
}

TEST_F(HostileWorker, ThatShowsTooMuchTextCountsAsLost) {
  wires["east"]->cut();
  pass(minutes(1));
  std::string conditions;
  for (int i = 0; i < 16; ++i)
    conditions += "{type: T" + std::to_string(i) +
                  ", status: 'True', reason: R, lastTransitionTime: '2026-01-01T00:00:00Z', message: " +
                  std::string(32'000, 'm') + "},";
  for (int i = 0; i < 3; ++i) {
    const std::string name = "w" + std::to_string(i);
    make_on("east", copy(name, "a: b"));
    EXPECT_TRUE(
        patch("east", api::kWorkloads, "default", name, "{status: {conditions: [" + conditions + "]}}", "status").ok());
  }
  wires["east"]->heal();
  pass(minutes(4));
  EXPECT_EQ(activity("east").substr(0, 20), "False TooManyObjects");
}

// What the account may not do, as "create jobs".
void deny(Wire& wire, std::set<std::string> what) {
  wire.instead = [what = std::move(what)](const api::RestRequest& request) -> std::optional<api::RestResponse> {
    if (request.resource.resource != "selfsubjectaccessreviews") return std::nullopt;
    const Json* asked = find_path(request.body, {"spec", "resourceAttributes"});
    const auto sub = string_at(*asked, {"subresource"});
    const std::string right = std::string(string_at(*asked, {"verb"})) + " " +
                              std::string(string_at(*asked, {"resource"})) +
                              (sub.empty() ? "" : "/" + std::string(sub));
    return api::RestResponse{201, JsonObject{{"status", JsonObject{{"allowed", !what.contains(right)}}}}, {}};
  };
}

TEST_F(SharedWorkers, MissingRightsAreListedBeforeAnythingIsTried) {
  deny(*wires["east"], {"create jobs", "delete jobs", "patch workloads/status"});
  wires["east"]->cut();
  pass(minutes(1));
  wires["east"]->state = Wire::State::kUp;
  pass(minutes(3));
  EXPECT_EQ(activity("east").substr(0, activity("east").find("; connection")),
            "False MissingPermissions: the account of the kubeconfig may not do there: patch "
            "workloads.kueue.x-k8s.io/status; create, delete jobs.batch; docs/multikueue.md lists all that it must be "
            "allowed to do");
  job("a");
  pass(seconds(10));
  EXPECT_EQ(cluster_of("a"), "west");
  deny(*wires["east"], {});
  pass(minutes(6));
  EXPECT_EQ(activity("east"), "True Active: Connected");
}

TEST_F(SharedWorkers, WhatHappensOnWorkersIsCounted) {
  hold("west", true);
  job("a");
  pass(seconds(10));
  ASSERT_EQ(cluster_of("a"), "east");
  hold("west", false);
  patch("east", api::kClusterQueues, "", "w-cq", "{spec: {stopPolicy: HoldAndDrain}}");
  pass(seconds(30));
  ASSERT_EQ(cluster_of("a"), "west");
  wires["east"]->cut();
  pass(minutes(1));
  manager.controller->refresh_metrics();
  const std::string text = registry.text();
  const auto has = [&](const std::string& line) {
    EXPECT_NE(text.find("\n" + line + "\n"), std::string::npos) << line << "\n" << text;
  };
  has(R"(multikueue_workloads_admitted_total{cluster="east",cluster_queue="cq",replica_role="leader"} 1)");
  has(R"(multikueue_workloads_admitted_total{cluster="west",cluster_queue="cq",replica_role="leader"} 1)");
  has(R"(multikueue_workloads_dispatched_total{cluster="east",cluster_queue="cq",replica_role="leader"} 2)");
  has(R"(multikueue_workloads_dispatched_total{cluster="west",cluster_queue="cq",replica_role="leader"} 2)");
  has(R"(multikueue_workloads_evicted_total{cluster="east",cluster_queue="cq",reason="ClusterQueueStopped",replica_role="leader"} 1)");
  for (const char* state : {"False", "True", "Unknown"}) {
    const auto status = [&](const std::string& cluster, bool is) {
      has("multikueue_cluster_status{active=\"" + std::string(state) + "\",cluster=\"" + cluster +
          R"(",cluster_queue="cq",replica_role="leader"} )" + (is ? "1" : "0"));
    };
    status("east", state == std::string_view("False"));
    status("west", state == std::string_view("True"));
  }
}

TEST_F(SharedWorkers, TheEndWaitsForAnswersOfWorkersButNotForEver) {
  wires["east"]->cut(Wire::State::kSilent);
  job("a");
  pass(std::chrono::milliseconds(500));  // the copy for east is under way
  bool drained = false;
  manager.controller->drain([&] { drained = true; });
  pass(seconds(1));
  EXPECT_FALSE(drained) << "a write is under way";
  pass(seconds(5));
  EXPECT_TRUE(drained);
  const std::size_t before = list("west", api::kWorkloads).size();
  job("b");
  pass(minutes(1));
  EXPECT_EQ(list("west", api::kWorkloads).size(), before) << "nothing is sent any more";
}

TEST_F(SharedWorkers, TheEndComesAtOnceWhenNothingIsUnderWay) {
  bool drained = false;
  manager.controller->drain([&] { drained = true; });
  pass(std::chrono::milliseconds(10));
  EXPECT_TRUE(drained);
}

}  // namespace
}  // namespace berth::controller::multikueue_sharing_test
