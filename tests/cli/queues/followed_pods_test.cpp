// berth explain and predict follow an admitted workload to its pods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "cli/queues/pod_waits.h"
#include "cli/queues/run_command.h"

namespace berth::cli::queues::followed_pods_test {
namespace {

using testing::HasSubstr;
using testing::Not;

Json yaml(const std::string& text) { return parse_yaml(text).value().front(); }

// The Job train, whose workload is admitted.
struct Admitted {
  std::string pods = "[]", events = "[]", state = "Admitted";
  int pods_code = 200;
};

class AdmittedJob final : public Server {
 public:
  explicit AdmittedJob(Admitted given) : given_(std::move(given)) {}
  api::RestResponse get(const std::string& path) override {
    if (path == "/apis") return json("{groups: [{name: batch, preferredVersion: {groupVersion: batch/v1}}]}");
    if (path == "/apis/batch/v1")
      return json("{resources: [{name: jobs, singularName: job, kind: Job, namespaced: true}]}");
    if (path.find("/explanation") != std::string::npos)
      return json("{metadata: {namespace: default, name: w}, state: " + given_.state + ", summary: It has quota.}");
    if (path.find("/prediction") != std::string::npos)
      return json("{metadata: {namespace: default, name: w}, summary: it has started, admitted: now}");
    return {404, Json(), {}};
  }
  api::RestResponse call(api::RestRequest request) override {
    const std::string& what = request.resource.resource;
    if (!request.subresource.empty()) return get("/" + request.subresource);
    if (what == "pods" && given_.pods_code != 200) return {given_.pods_code, Json(), {}};
    if (what == "pods") return json("{items: " + given_.pods + "}");
    if (what == "events") return json("{items: " + given_.events + "}");
    if (what == "workloads" && request.verb == api::Verb::kGet)
      return json(
          "{metadata: {name: w, namespace: default, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: "
          "train, uid: u, controller: true}]}}");
    if (what == "jobs") return json("{metadata: {name: train, namespace: default, uid: u}}");
    return json("{items: []}");
  }
  Time now() const override { return {}; }
  void sleep(Duration) override {}
  std::string default_namespace() const override { return "default"; }
  std::string explain(const api::RestResponse&, const api::GroupVersionResource&) const override { return "refused"; }

 private:
  static api::RestResponse json(const std::string& text) { return {200, yaml(text), {}}; }
  Admitted given_;
};

std::string said(const std::vector<std::string>& words, const Admitted& given) {
  const auto ran = testing_support::run_command(words, [&](const AccessFlags&) -> Result<std::unique_ptr<Server>> {
    return std::make_unique<AdmittedJob>(given);
  });
  EXPECT_EQ(ran.code, 0) << ran.said;
  return ran.said;
}

std::string pod(const std::string& name, const std::string& spec, const std::string& status) {
  return "{metadata: {name: " + name + ", uid: " + name + ", ownerReferences: [{uid: u}]}, spec: " + spec +
         ", status: " + status + "}";
}

const std::string kUnschedulable =
    "{phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/4 nodes "
    "are available: 4 Insufficient cpu.'}]}";

TEST(FollowedPods, ExplainSaysWhyTheyAreUnschedulable) {
  Admitted given;
  given.pods = "[" + pod("b", "{}", kUnschedulable) + ", " + pod("a", "{}", kUnschedulable) + ", " +
               pod("c", "{nodeName: n}", "{phase: Running}") + "]";
  const std::string line = "  2 pods wait, Unschedulable: 0/4 nodes are available: 4 Insufficient cpu. (a, b)\n";
  EXPECT_THAT(said({"explain", "workload", "w"}, given), HasSubstr("Its pods that do not run:\n" + line));
  EXPECT_THAT(said({"predict", "workload", "w"}, given),
              HasSubstr("It has quota, but not all of its pods run:\n" + line.substr(2)));
  const Json out = parse_json(said({"explain", "workload", "w", "-o", "json"}, given)).value();
  ASSERT_EQ(array_at(out, {"podWaits"}).size(), 1u);
  EXPECT_EQ(string_at(array_at(out, {"podWaits"}).front(), {"reason"}), "Unschedulable");
  EXPECT_EQ(array_at(array_at(out, {"podWaits"}).front(), {"pods"}).size(), 2u);
}

TEST(FollowedPods, NothingIsSaidWhereAllRunOrNoneAreToRun) {
  Admitted given;
  given.pods = "[" + pod("c", "{nodeName: n}", "{phase: Running}") + "]";
  EXPECT_THAT(said({"explain", "workload", "w"}, given), Not(HasSubstr("pod")));
  given.pods = "[" + pod("c", "{}", kUnschedulable) + "]";
  given.state = "Pending";
  EXPECT_THAT(said({"explain", "workload", "w"}, given), Not(HasSubstr("pod")));
}

TEST(FollowedPods, AJobWithoutPodsTellsItsWarning) {
  Admitted given;
  given.events =
      "[{regarding: {uid: u}, type: Warning, reason: FailedCreate, note: 'exceeded quota', eventTime: "
      "'2026-01-01T00:00:00Z'}]";
  EXPECT_THAT(said({"explain", "workload", "w"}, given), HasSubstr("it has no pods: FailedCreate: exceeded quota"));
}

TEST(FollowedPods, PodsThatCannotBeReadAreNoError) {
  Admitted given;
  given.pods_code = 403;
  EXPECT_THAT(said({"explain", "workload", "w"}, given), HasSubstr("They cannot be read: refused"));
}

TEST(PodWaits, OfGatesImagesAndVolumes) {
  const auto none = [](const Json&) { return std::string(); };
  const auto of = [](const std::string& spec, const std::string& status, const NewestWarning& warning) {
    const auto found = waits_of({yaml(pod("p", spec, status))}, warning);
    return found.empty() ? "" : found.front().reason + ": " + found.front().message;
  };
  EXPECT_EQ(of("{schedulingGates: [{name: example.com/wait}]}", "{phase: Pending}", none),
            "SchedulingGated: another controller must remove its gate example.com/wait");
  EXPECT_EQ(of("{schedulingGates: [{name: kueue.x-k8s.io/topology}]}", "{phase: Pending}", none),
            "SchedulingGated: Berth has not removed its gate kueue.x-k8s.io/topology yet");
  EXPECT_EQ(of("{nodeName: n}",
               "{phase: Pending, containerStatuses: [{state: {waiting: {reason: ImagePullBackOff, message: no such "
               "image}}}]}",
               none),
            "ImagePullBackOff: no such image");
  const std::string creating = "{phase: Pending, containerStatuses: [{state: {waiting: {reason: ContainerCreating}}}]}";
  EXPECT_EQ(of("{nodeName: n}", creating, [](const Json&) { return std::string("FailedMount: no volume v"); }),
            "ContainerCreating: FailedMount: no volume v");
  EXPECT_EQ(of("{nodeName: n}", creating, none), "ContainerCreating: ");
  EXPECT_EQ(of("{}", "{phase: Pending}", none), "NotScheduled: no scheduler has looked at it yet");
  EXPECT_EQ(of("{nodeName: n}", "{phase: Succeeded}", none), "");
}

TEST(PodWaits, WarningsAreAskedForFewPods) {
  JsonArray pods;
  for (int i = 0; i < 50; ++i) pods.push_back(yaml(pod("p" + std::to_string(i), "{}", "{phase: Pending}")));
  int asked = 0;
  const auto found = waits_of(pods, [&](const Json&) {
    ++asked;
    return std::string("why");
  });
  EXPECT_EQ(asked, 5);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.front().pods.size(), 45u);
}

}  // namespace
}  // namespace berth::cli::queues::followed_pods_test
