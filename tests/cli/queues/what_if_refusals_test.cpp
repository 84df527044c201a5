// berth what-if refuses what the API server refuses, with the server's text: each bad manifest goes to the embedded
// API server, applied and created, and to what-if.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "api/status.h"
#include "base/embedded.h"
#include "base/yaml.h"
#include "cli/queues/run_command.h"
#include "embedded/apiserver/kueue_webhooks.h"
#include "embedded/apiserver/server/harness.h"
#include "support/scratch_dir.h"

namespace berth::cli::queues::what_if_refusals_test {
namespace {

const std::string kApiVersion = "kueue.x-k8s.io/v1beta2";

// The server of ServerTest, with as much of its discovery as what-if reads.
class Embedded final : public Server {
 public:
  using Call = std::function<api::RestResponse(api::RestRequest)>;
  explicit Embedded(Call call) : call_(std::move(call)) {}
  api::RestResponse call(api::RestRequest request) override { return call_(std::move(request)); }
  api::RestResponse get(const std::string& path) override {
    if (path != "/apis/" + kApiVersion) return {404, Json(), {}};
    return {200,
            parse_json(R"({"resources": [
        {"name": "clusterqueues", "kind": "ClusterQueue", "namespaced": false},
        {"name": "cohorts", "kind": "Cohort", "namespaced": false},
        {"name": "resourceflavors", "kind": "ResourceFlavor", "namespaced": false},
        {"name": "localqueues", "kind": "LocalQueue", "namespaced": true},
        {"name": "workloads", "kind": "Workload", "namespaced": true}]})")
                .value(),
            {}};
  }
  Time now() const override { return {}; }
  void sleep(Duration) override {}
  std::string default_namespace() const override { return "default"; }
  std::string explain(const api::RestResponse& response, const api::GroupVersionResource&) const override {
    return api::failure_text(response);
  }

 private:
  Call call_;
};

class WhatIfRefusals : public apiserver::ServerTest {
 protected:
  WhatIfRefusals() : ServerTest({.seed = 7, .admission = apiserver::kueue_webhooks({})}) {
    for (const auto& file : embedded::crds()) {
      auto r = request(api::Verb::kCreate, apiserver::kCrds, "");
      r.body = parse_yaml(file.content).value().front();
      EXPECT_TRUE(call(std::move(r)).ok()) << file.name;
    }
  }
  ~WhatIfRefusals() override { std::filesystem::remove_all(scratch_); }

  // What `berth what-if -f FILE` prints, which fails.
  std::string what_if(const std::string& yaml) {
    const std::string file = scratch_ + "/bad.yaml";
    std::ofstream(file) << yaml;
    const auto [code, said] = testing_support::run_command(
        {"what-if", "-f", file}, [this](const AccessFlags&) -> Result<std::unique_ptr<Server>> {
          return std::make_unique<Embedded>([this](api::RestRequest r) { return call(std::move(r)); });
        });
    EXPECT_EQ(code, 1) << yaml;
    const std::string begin = "berth: " + file + ": ";
    EXPECT_TRUE(said.starts_with(begin) && said.ends_with("\n")) << said;
    return said.substr(begin.size(), said.size() - begin.size() - 1);
  }
  std::string refusal(const Json& object, api::Verb verb) {
    const std::string kind(string_at(object, {"kind"}));
    std::string plural = kind + "s";
    std::ranges::transform(plural, plural.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
    auto r = request(verb, {"kueue.x-k8s.io", "v1beta2", plural}, string_at(object, {"metadata", "namespace"}));
    r.body = object;
    if (verb == api::Verb::kPatch) {
      r.name = string_at(object, {"metadata", "name"});
      r.patch_type = api::PatchType::kApply;
      r.field_manager = "test";
    }
    const auto answer = call(std::move(r));
    EXPECT_FALSE(answer.ok()) << to_string(object);
    return api::failure_text(answer);
  }

  // Denials of webhooks do not name the object; what-if does.
  static std::string with_its_name(const Json& object, const std::string& text) {
    if (text.find("bad") != std::string::npos) return text;
    return std::string(string_at(object, {"kind"})) + " bad: " + text;
  }

  const std::string scratch_ = berth::testing_support::make_scratch_dir("what-if");
};

std::string object(const std::string& kind, const std::string& spec) {
  const bool namespaced = kind == "LocalQueue" || kind == "Workload";
  return "{apiVersion: " + kApiVersion + ", kind: " + kind + ", metadata: {name: bad" +
         (namespaced ? ", namespace: default" : "") + "}, spec: " + spec + "}";
}
std::string cluster_queue(const std::string& fields) {
  return object("ClusterQueue", "{namespaceSelector: {}, " + fields + "}");
}
// `quota`: fields of the resource cpu.
std::string with_quota(const std::string& quota, const std::string& more = "") {
  return cluster_queue(more +
                       "resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, " +
                       quota + "}]}]}]");
}
std::string workload(const std::string& fields) { return object("Workload", "{queueName: q" + fields + "}"); }
std::string with_pods(const std::string& pod_set, const std::string& requests = "{cpu: 1}") {
  return workload(", podSets: [{" + pod_set +
                  ", template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, "
                  "resources: {requests: " +
                  requests + "}}]}}}]");
}

TEST_F(WhatIfRefusals, HaveTheTextOfTheApiServer) {
  const struct {
    std::string yaml, part;
  } cases[] = {
      {with_quota("nominalQuota: lots"), "nominalQuota"},
      {with_quota("nominalQuota: '-1'"), "nominalQuota: Invalid value: \"-1\": must be greater than or equal to 0"},
      {with_quota("nominalQuota: 1, borrowingLimit: 1"), "borrowingLimit"},
      {with_quota("nominalQuota: 1, lendingLimit: 2", "cohortName: team, "), "lendingLimit"},
      {with_quota("nominalQuota: 1, lendingLimit: 1"), "lendingLimit"},
      {with_quota("borrowingLimit: 1"), "nominalQuota"},
      {cluster_queue("preemption: {reclaimWithinCohort: Sometimes}"), "Unsupported value: \"Sometimes\""},
      {cluster_queue("preemption: {withinClusterQueue: Any}"), "Unsupported value: \"Any\""},
      {cluster_queue("preemption: {reclaimWithinCohort: Never, borrowWithinCohort: {policy: LowerPriority}}"),
       "reclaimWithinCohort"},
      {cluster_queue("fairSharing: {weight: '-1'}"), "spec.fairSharing.weight: Invalid value: \"-1\""},
      {cluster_queue("fairSharing: {weight: 1n}"), "greater than 10^-9"},
      {cluster_queue("fairSharing: {weight: heavy}"), "spec.fairSharing.weight"},
      {cluster_queue("admissionScope: {admissionMode: Sometimes}"),
       "spec.admissionScope.admissionMode: Unsupported value: \"Sometimes\": supported values: "
       "\"UsageBasedAdmissionFairSharing\", \"NoAdmissionFairSharing\""},
      {cluster_queue("admissionScope: {}"), "spec.admissionScope.admissionMode: Required value"},
      {cluster_queue("queueingStrategy: LIFO"), "Unsupported value: \"LIFO\""},
      {cluster_queue("stopPolicy: Now"), "spec.stopPolicy: Unsupported value: \"Now\""},
      {object("Cohort", "{fairSharing: {weight: '-1'}}"), "spec.fairSharing.weight: Invalid value: \"-1\""},
      {object("Cohort", "{parentName: 'Not a name'}"), "spec.parentName"},
      {object("LocalQueue", "{clusterQueue: cq, fairSharing: {weight: heavy}}"), "spec.fairSharing.weight"},
      {object("LocalQueue", "{clusterQueue: cq, fairSharing: {weight: true}}"), "spec.fairSharing.weight"},
      {object("LocalQueue", "{clusterQueue: cq, stopPolicy: Now}"), "spec.stopPolicy: Unsupported value: \"Now\""},
      {object("ResourceFlavor", "{tolerations: [{key: k, operator: Like}]}"),
       "spec.tolerations: Invalid value: supported toleration values"},
      {object("ResourceFlavor", "{nodeTaints: [{key: k, effect: Later}]}"),
       "spec.nodeTaints: Invalid value: supported taint effect values"},
      {workload(", podSets: []"), "spec.podSets"},
      {with_pods("name: 'Not a name', count: 1"), "spec.podSets[0].name"},
      {with_pods("name: main, count: -1"), "spec.podSets[0].count"},
      {with_pods("name: main, count: 1, minCount: 2"), "minCount"},
      {with_pods("name: main, count: 1", "{cpu: some}"), "spec.podSets[0].template.spec.containers[0].resources"},
  };
  for (const auto& c : cases) {
    const Json sent = parse_yaml(c.yaml).value().front();
    const std::string created = refusal(sent, api::Verb::kCreate);
    EXPECT_NE(created.find(c.part), std::string::npos) << c.yaml << "\n" << created;
    EXPECT_EQ(refusal(sent, api::Verb::kPatch), created) << c.yaml;
    EXPECT_EQ(what_if(c.yaml), with_its_name(sent, created)) << c.yaml;
  }
}

// What is applied is checked against the types before anything else, so this is not the text of a creation.
TEST_F(WhatIfRefusals, OfWrongTypesHaveTheTextOfAnApply) {
  const struct {
    std::string yaml, part;
  } cases[] = {
      {cluster_queue("fairSharing: {weight: [1]}"), ".spec.fairSharing.weight: expected scalar, got list"},
      {cluster_queue("admissionScope: {admissionMode: 5}"),
       ".spec.admissionScope.admissionMode: expected string, got "},
      {cluster_queue("admissionScope: Sometimes"), ".spec.admissionScope: expected map, got string"},
      {object("LocalQueue", "{clusterQueue: cq, fairSharing: 2}"), ".spec.fairSharing: expected map, got number"},
      {object("LocalQueue", "{clusterQueue: cq, weight: 2}"), ".spec.weight: field not declared in schema"},
      {with_pods("name: main, count: many"), ".spec.podSets[name=\"main\"].count: expected number, got string"},
  };
  for (const auto& c : cases) {
    const Json sent = parse_yaml(c.yaml).value().front();
    const std::string applied = refusal(sent, api::Verb::kPatch);
    EXPECT_NE(applied.find(c.part), std::string::npos) << c.yaml << "\n" << applied;
    EXPECT_EQ(what_if(c.yaml), with_its_name(sent, applied)) << c.yaml;
  }
}

}  // namespace
}  // namespace berth::cli::queues::what_if_refusals_test
