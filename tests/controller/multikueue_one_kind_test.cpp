// A worker that shows one kind of job no more, or lacks rights for it: the other kinds run on.
#include "controller/multikueue_fixture.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::controller::multikueue_one_kind_test {
namespace {

using multikueue_fixture::Wire;
using std::chrono::minutes;
using std::chrono::seconds;

inline const api::GroupVersionResource kJobSets{"jobset.x-k8s.io", "v1alpha2", "jobsets"};
inline const api::GroupVersionResource kRayServices{"ray.io", "v1", "rayservices"};
constexpr std::string_view kPods =
    "{metadata: {annotations: {berth.dev/run-for: 1h}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, "
    "resources: {requests: {cpu: '1'}}}]}}";

ControllerOptions shipped_kinds() {
  ControllerOptions options;
  for (const auto& kind : jobs::kinds::shipped_job_kinds()) options.kinds.push_back({kind, true});
  return options;
}

// The JobSet "a" and the Job "b" run on east; west is held.
class MultiKueueOneKind : public multikueue_fixture::MultiKueue {
 protected:
  MultiKueueOneKind() : MultiKueue(shipped_kinds()) {
    for (const char* side : {"", "east", "west"}) install(side, "jobsets");
    pass(minutes(1));
    hold("west", true);
    job_set("a");
    job("b");
    pass(seconds(20));
    EXPECT_EQ(cluster_of("a"), "east") << check_of("a");
    EXPECT_EQ(cluster_of("b"), "east") << check_of("b");
    hold("west", false);
  }
  void job_set(const std::string& name) {
    make_of("", kJobSets,
            "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: " + name +
                ", namespace: default, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {replicatedJobs: [{name: w, "
                "replicas: 1, template: {spec: {template: " +
                std::string(kPods) + "}}}]}}");
  }
  // Its link is cut for 20 seconds; `then`: how long it has after that.
  void east_connects_again(Duration then) {
    wires["east"]->cut();
    pass(seconds(20));
    wires["east"]->state = Wire::State::kUp;
    pass(then);
  }
  // East answers so to lists and watches of JobSets from now on.
  void jobsets_answer(int list_code, int watch_code) {
    auto& wire = *wires["east"];
    wire.cut();
    wire.state = Wire::State::kUp;
    wire.instead = [=](const api::RestRequest& request) -> std::optional<api::RestResponse> {
      if (request.resource.resource != "jobsets") return std::nullopt;
      if (request.verb != api::Verb::kList && request.verb != api::Verb::kWatch) return std::nullopt;
      const int code = request.verb == api::Verb::kList ? list_code : watch_code;
      return api::RestResponse{code, api::make_status(code, "Refused", "not today"), {}};
    };
  }
  void heal() { wires["east"]->instead = nullptr; }
};

TEST_F(MultiKueueOneKind, ThatIsRefusedForAMomentEvictsNothing) {
  jobsets_answer(403, 403);
  pass(minutes(1));
  EXPECT_EQ(cluster_of("a"), "east") << check_of("a");
  EXPECT_NE(activity("east").find("True Active: Connected, but jobs of the kind JobSet are not shown since 2026-"),
            std::string::npos)
      << activity("east");
  job_set("c");
  pass(seconds(20));
  EXPECT_EQ(cluster_of("c"), "west") << "nothing new goes there";
  EXPECT_TRUE(copy_on("east", "c").is_null());
  heal();
  pass(minutes(3));
  EXPECT_EQ(cluster_of("a"), "east") << check_of("a");
  EXPECT_FALSE(get("east", kJobSets, "a").is_null());
  EXPECT_EQ(activity("east"), "True Active: Connected");
}

TEST_F(MultiKueueOneKind, ThatIsRefusedForLongRunsElsewhere) {
  for (const int code : {403, 404}) {
    SCOPED_TRACE(code);
    jobsets_answer(code, code);
    pass(minutes(4));
    EXPECT_EQ(cluster_of("a"), "west") << check_of("a");
    EXPECT_EQ(cluster_of("b"), "east") << "jobs of other kinds run on";
    EXPECT_FALSE(get("west", kJobSets, "a").is_null());
    EXPECT_EQ(copy_on("east", "a").is_null(), code == 404) << "a kind that is uninstalled needs no copies";
    heal();
    pass(minutes(2));
    EXPECT_TRUE(get("east", kJobSets, "a").is_null()) << "what was replaced is stopped";
    EXPECT_EQ(running_on("east"), 1u);
    if (code == 404) break;
    hold("east", false);
    patch("west", api::kClusterQueues, "", "w-cq", "{spec: {stopPolicy: HoldAndDrain}}");
    pass(seconds(30));
    ASSERT_EQ(cluster_of("a"), "east") << "it goes back";
    patch("west", api::kClusterQueues, "", "w-cq", "{spec: {stopPolicy: None}}");
    pass(seconds(30));
  }
}

TEST_F(MultiKueueOneKind, ThatIsRefusedGivesTheQuotaOfAnEvictionBack) {
  jobsets_answer(403, 403);
  pass(seconds(40));
  patch("", api::kClusterQueues, "", "cq", "{spec: {stopPolicy: HoldAndDrain}}");
  pass(minutes(3));
  EXPECT_NE(condition(workload("a"), "QuotaReserved").substr(0, 4), "True") << to_string(workload("a"));
}

TEST_F(MultiKueueOneKind, WhoseListsFailLeavesTheClusterConnected) {
  const int before = connections;
  jobsets_answer(500, 410);
  pass(minutes(1));
  EXPECT_EQ(connections, before);
  EXPECT_EQ(activity("east").substr(0, 22), "True Active: Connected");
  EXPECT_EQ(cluster_of("a"), "east");
  job("d");
  pass(seconds(20));
  EXPECT_FALSE(cluster_of("d").empty());
  EXPECT_EQ(cluster_of("b"), "east");
  // A new connection begins no new time.
  wires["east"]->cut();
  pass(seconds(15));
  wires["east"]->state = Wire::State::kUp;
  pass(seconds(70));
  EXPECT_EQ(activity("east").substr(0, 22), "True Active: Connected");
  EXPECT_EQ(cluster_of("a"), "west") << check_of("a");
  EXPECT_EQ(cluster_of("b"), "east") << check_of("b");
}

TEST_F(MultiKueueOneKind, AConnectionThatNeverHoldsIsLostAfterTheTimeout) {
  for (int i = 0; i < 12 && cluster_of("b") == "east"; ++i) {
    wires["east"]->cut();
    pass(seconds(25));
    wires["east"]->state = Wire::State::kUp;
    for (int waited = 0; waited < 400 && activity("east").substr(0, 4) != "True"; ++waited) pass(seconds(1));
    pass(seconds(2));
  }
  EXPECT_EQ(cluster_of("b"), "west") << check_of("b");
}

// Answers of east about this right to JobSets or RayServices.
void answer_about(Wire& wire, std::string verb, Json status) {
  wire.instead = [=](const api::RestRequest& request) -> std::optional<api::RestResponse> {
    if (request.resource.resource != "selfsubjectaccessreviews") return std::nullopt;
    const auto resource = string_at(request.body, {"spec", "resourceAttributes", "resource"});
    const bool it = (resource == "jobsets" || resource == "rayservices") &&
                    string_at(request.body, {"spec", "resourceAttributes", "verb"}) == verb;
    return api::RestResponse{201, JsonObject{{"status", it ? status : Json(JsonObject{{"allowed", true}})}}, {}};
  };
}

TEST_F(MultiKueueOneKind, MissingRightsStopNoJobAndAreAskedForEveryHalfMinute) {
  answer_about(*wires["east"], "create", JsonObject{{"allowed", false}});
  east_connects_again(minutes(4));
  EXPECT_EQ(activity("east"),
            "True Active: Connected, but not for jobs of the kind JobSet: the account of the kubeconfig may not do "
            "there: create jobsets.jobset.x-k8s.io");
  EXPECT_EQ(cluster_of("a"), "east") << check_of("a");
  hold("west", true);
  job_set("c");
  pass(seconds(20));
  EXPECT_TRUE(copy_on("east", "c").is_null());
  heal();
  pass(seconds(31));
  EXPECT_EQ(activity("east"), "True Active: Connected");
  EXPECT_EQ(cluster_of("c"), "east") << check_of("c");
}

TEST_F(MultiKueueOneKind, RightsThatEveryJobNeedsStopNoJobEither) {
  wires["east"]->instead = [](const api::RestRequest& request) -> std::optional<api::RestResponse> {
    if (request.resource.resource != "selfsubjectaccessreviews") return std::nullopt;
    const bool it = string_at(request.body, {"spec", "resourceAttributes", "resource"}) == "jobs" &&
                    string_at(request.body, {"spec", "resourceAttributes", "verb"}) == "create";
    return api::RestResponse{201, JsonObject{{"status", JsonObject{{"allowed", !it}}}}, {}};
  };
  east_connects_again(minutes(4));
  EXPECT_EQ(activity("east"),
            "False MissingPermissions: the account of the kubeconfig may not do there: create jobs.batch; "
            "docs/multikueue.md lists all that it must be allowed to do");
  EXPECT_EQ(cluster_of("a"), "east") << check_of("a");
  EXPECT_EQ(cluster_of("b"), "east") << check_of("b");
  hold("west", true);
  job("c");
  pass(seconds(20));
  EXPECT_TRUE(copy_on("east", "c").is_null());
  heal();
  pass(seconds(31));
  EXPECT_EQ(activity("east"), "True Active: Connected");
  EXPECT_EQ(cluster_of("c"), "east") << check_of("c");
}

TEST_F(MultiKueueOneKind, ARightThatTheWorkerCouldNotFindOutIsNotMissing) {
  answer_about(*wires["east"], "create", JsonObject{{"allowed", false}, {"evaluationError", "no webhook"}});
  east_connects_again(minutes(1));
  EXPECT_EQ(activity("east"), "True Active: Connected");
}

TEST_F(MultiKueueOneKind, RayServicesRunWithoutTheRightToPatchThem) {
  for (const char* side : {"", "east", "west"}) install(side, "rayservices");
  pass(minutes(1));
  hold("west", true);
  answer_about(*wires["east"], "patch", JsonObject{{"allowed", false}});
  make_of("", kRayServices,
          "{apiVersion: ray.io/v1, kind: RayService, metadata: {name: s, namespace: default, labels: "
          "{kueue.x-k8s.io/queue-name: q}}, spec: {serveConfigV2: one, upgradeStrategy: {type: None}, "
          "rayClusterConfig: {headGroupSpec: {rayStartParams: {}, template: " +
              std::string(kPods) + "}}}}");
  pass(seconds(20));
  EXPECT_EQ(cluster_of("s"), "east") << check_of("s");
  EXPECT_EQ(activity("east"),
            "True Active: Connected, but changes of jobs of the kind RayService are not written there: the account of "
            "the kubeconfig may not do there: patch rayservices.ray.io");
  EXPECT_TRUE(patch("", kRayServices, "default", "s", "{spec: {serveConfigV2: two}}").ok());
  pass(seconds(10));
  EXPECT_EQ(string_at(get("east", kRayServices, "s"), {"spec", "serveConfigV2"}), "one");
  heal();
  pass(seconds(35));
  EXPECT_EQ(string_at(get("east", kRayServices, "s"), {"spec", "serveConfigV2"}), "two");
}

}  // namespace
}  // namespace berth::controller::multikueue_one_kind_test
