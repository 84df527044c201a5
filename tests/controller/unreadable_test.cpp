// Objects that the API server accepts and that cannot be decoded: they get an event, and what was decided by their
// last readable version stays.
#include "controller/unreadable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/resources.h"
#include "base/embedded.h"
#include "base/yaml.h"
#include "controller/controller.h"
#include "embedded/apiserver/server/harness.h"

namespace berth::controller::unreadable_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The server has no webhooks, and its definitions have no rules between fields, as older or newer definitions may.
// This assignment has a domain count of two and names one domain.
constexpr std::string_view kTorn =
    R"({"levels":["kubernetes.io/hostname"],"slices":[{"domainCount":2,)"
    R"("valuesPerLevel":[{"individual":{"roots":["x"]}}],"podCounts":{"universal":1}}]})";

void without_rules(Json& value) {
  if (value.is_array()) {
    for (Json& item : value.get_array()) without_rules(item);
  }
  if (!value.is_object()) return;
  value.get_object().erase("x-kubernetes-validations");
  for (auto& member : value.get_object()) without_rules(member.value());
}

class Unreadable : public apiserver::ServerTest {
 protected:
  Unreadable() : ServerTest({.seed = 7, .controllers = true}) {
    for (const auto& file : embedded::crds()) make(apiserver::kCrds, "", file.content);
    make(api::kResourceFlavors, "",
         "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}, spec: {}}");
    make(api::kClusterQueues, "",
         "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: "
         "{namespaceSelector: {}, resourceGroups: "
         "[{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]}]}}");
    make(api::kLocalQueues, "default",
         "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q}, spec: {clusterQueue: "
         "cq}}");
    begin();
  }
  void begin() {
    controller.emplace(*server, executor, ControllerOptions());
    controller->start();
    controller->lead();
    pass();
  }
  void pass(int seconds = 5) { executor.run_until(executor.now() + std::chrono::seconds(seconds)); }
  void make(const api::GroupVersionResource& resource, std::string_view ns, std::string_view yaml) {
    auto r = request(api::Verb::kCreate, resource, ns);
    r.body = parse_yaml(yaml).value().front();
    if (resource == apiserver::kCrds) without_rules(r.body);
    const auto made = call(std::move(r));
    EXPECT_TRUE(made.ok()) << to_string(made.body);
  }
  void workload(const std::string& name) {
    make(api::kWorkloads, "default",
         "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: " + name +
             "}, spec: {queueName: q, podSets: [{name: main, count: 1, template: {spec: {restartPolicy: "
             "Never, "
             "containers: [{name: c, image: i, resources: {requests: {cpu: 4}}}]}}}]}}");
    pass();
  }
  bool admitted(const std::string& name) {
    const Json object = get(api::kWorkloads, "default", name).body;
    for (const auto& one : array_at(object, {"status", "conditions"}))
      if (string_at(one, {"type"}) == "Admitted") return string_at(one, {"status"}) == "True";
    return false;
  }
  // Another client writes a topology assignment into the workload's admission; "null" removes it.
  void write_places(const std::string& name, std::string_view places) {
    Json object = get(api::kWorkloads, "default", name).body;
    Json& assignments = ensure_path(object, {"status", "admission", "podSetAssignments"});
    if (places == "null") {
      assignments.as_array().at(0).as_object().erase("topologyAssignment");
    } else {
      assignments.as_array().at(0).as_object()["topologyAssignment"] = parse_json(places).value();
    }
    const auto written = update(api::kWorkloads, "default", object, "status");
    EXPECT_TRUE(written.ok()) << to_string(written.body);
    pass();
  }
  // The notes of all events on the workload with the reason CannotBeRead.
  std::vector<std::string> reported(std::string_view name) {
    std::vector<std::string> notes;
    const Json found = list(api::kEvents, "default").body;
    for (const auto& one : array_at(found, {"items"})) {
      if (string_at(one, {"reason"}) == "CannotBeRead" && string_at(one, {"type"}) == "Warning" &&
          string_at(one, {"regarding", "kind"}) == "Workload" && string_at(one, {"regarding", "name"}) == name)
        notes.emplace_back(string_at(one, {"note"}));
    }
    return notes;
  }
  std::size_t holders() { return controller->engine().held_quotas().size(); }

  std::optional<Controller> controller;
};

TEST_F(Unreadable, AWorkloadKeepsItsQuotaAndAnEventSaysSo) {
  workload("a");
  ASSERT_TRUE(admitted("a"));
  write_places("a", kTorn);
  EXPECT_THAT(reported("a"), ElementsAre(AllOf(HasSubstr("Berth cannot read this object"), HasSubstr("roots"))));
  EXPECT_EQ(holders(), 1u);
  workload("b");
  EXPECT_FALSE(admitted("b")) << "the quota is not free";
  write_places("a", "null");
  EXPECT_TRUE(admitted("a"));
  EXPECT_FALSE(admitted("b"));
  ASSERT_TRUE(remove(api::kWorkloads, "default", "a").ok());
  pass();
  EXPECT_TRUE(admitted("b")) << "it is read again, and gives its quota back";
}

TEST_F(Unreadable, AWorkloadThatGoesUnreadGivesItsQuotaBack) {
  workload("a");
  write_places("a", kTorn);
  ASSERT_EQ(holders(), 1u);
  ASSERT_TRUE(remove(api::kWorkloads, "default", "a").ok());
  pass();
  EXPECT_EQ(holders(), 0u);
  workload("b");
  EXPECT_TRUE(admitted("b"));
}

class UnreadableQueue : public Unreadable {
 protected:
  void make_unreadable(const std::string& name) {
    const auto r = patch(api::kClusterQueues, "", name,
                         R"({"spec":{"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"Sideways"}]}}})");
    ASSERT_TRUE(r.ok()) << to_string(r.body);
    pass();
  }
  bool there(const std::string& name) { return get(api::kClusterQueues, "", name).ok(); }
};

TEST_F(UnreadableQueue, LosesItsFinalizerWhenItIsDeleted) {
  ASSERT_TRUE(patch(api::kClusterQueues, "", "cq", R"({"metadata":{"labels":{"seen":"yes"}}})").ok());
  pass();
  make_unreadable("cq");
  workload("a");
  EXPECT_TRUE(admitted("a")) << "its last readable version counts";
  ASSERT_TRUE(remove(api::kClusterQueues, "", "cq").ok());
  pass();
  EXPECT_TRUE(there("cq")) << "a workload holds its quota";
  ASSERT_TRUE(remove(api::kWorkloads, "default", "a").ok());
  pass();
  EXPECT_FALSE(there("cq"));
}

TEST_F(UnreadableQueue, ThatWasNeverReadLosesItsFinalizerWhenItIsDeleted) {
  controller.reset();
  make_unreadable("cq");
  begin();
  ASSERT_TRUE(there("cq"));
  ASSERT_TRUE(remove(api::kClusterQueues, "", "cq").ok());
  pass();
  EXPECT_FALSE(there("cq"));
}

TEST_F(Unreadable, WhoBeginsToLeadTells) {
  workload("a");
  controller.reset();
  write_places("a", kTorn);
  ASSERT_THAT(reported("a"), IsEmpty());
  begin();
  EXPECT_THAT(reported("a"), ElementsAre(HasSubstr("roots")));
}

TEST_F(Unreadable, TheSameReasonIsReportedOnce) {
  workload("a");
  write_places("a", kTorn);
  ASSERT_EQ(reported("a").size(), 1u);
  ASSERT_TRUE(patch(api::kWorkloads, "default", "a", R"({"metadata":{"labels":{"x":"y"}}})").ok());
  pass(3600);
  const Json found = list(api::kEvents, "default").body;
  for (const auto& one : array_at(found, {"items"})) {
    if (string_at(one, {"reason"}) == "CannotBeRead") {
      EXPECT_EQ(find(one, "series"), nullptr) << to_string(one);
    }
  }
}

}  // namespace
}  // namespace berth::controller::unreadable_test
