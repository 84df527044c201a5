// berth import: what is refused, with its reason. Nothing is touched then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/migrate/import_fixture.h"

namespace berth::cli::migrate::import_refusals_test {
namespace {

using testing::HasSubstr;
using testing_support::Import;
using testing_support::Ran;

struct Wrong {
  std::string name, mapping, reason;
  friend void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.name; }
};
class WrongMapping : public Import, public testing::WithParamInterface<Wrong> {};

TEST_P(WrongMapping, IsRefusedWithItsReasonAndNothingIsTouched) {
  ns("lab");
  local_queue("lab", "q", "all");
  objects(R"(
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: gone}, value: 5}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: empty}, spec: {namespaceSelector: {}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: dangling}, spec: {namespaceSelector: {},
  resourceGroups: [{coveredResources: [cpu, memory], flavors: [{name: lost, resources: [{name: cpu, nominalQuota: 9},
  {name: memory, nominalQuota: 9Gi}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cpu-only}, spec: {namespaceSelector: {},
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: spot, resources: [{name: cpu, nominalQuota: 9}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: steady-only}, spec: {namespaceSelector: {},
  resourceGroups: [{coveredResources: [cpu, memory], flavors: [{name: steady, resources: [{name: cpu, nominalQuota: 9},
  {name: memory, nominalQuota: 9Gi}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: others}, spec: {namespaceSelector:
  {matchLabels: {team: others}}, resourceGroups: [{coveredResources: [cpu, memory], flavors: [{name: spot, resources:
  [{name: cpu, nominalQuota: 9}, {name: memory, nominalQuota: 9Gi}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: drained}, spec: {namespaceSelector: {},
  stopPolicy: HoldAndDrain, resourceGroups: [{coveredResources: [cpu, memory], flavors: [{name: spot, resources:
  [{name: cpu, nominalQuota: 9}, {name: memory, nominalQuota: 9Gi}]}]}]}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: lab, labels: {kueue.x-k8s.io/queue-name: q}},
  spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}
)");
  for (const char* queue : {"empty", "dangling", "cpu-only", "steady-only", "others", "drained", "nothing"})
    local_queue("lab", queue, queue);
  pod("lab", "plain", "is: plain", "spot");
  pod("lab", "classy", "is: classy", "spot", ", priorityClassName: gone");
  pod("lab", "grouped", "is: grouped", "spot");
  pod("lab", "queued", "is: queued", "spot");
  pod("lab", "owned", "is: owned", "spot");
  world->run_for(std::chrono::seconds(10));
  const auto change = [&](const std::string& pod, const std::string& body) {
    api::RestRequest request;
    request.verb = api::Verb::kPatch;
    request.resource = api::kPods;
    request.ns = "lab";
    request.name = pod;
    request.body = parse_json(body).value();
    const auto answer = world->call_past_webhooks(std::move(request));
    ASSERT_TRUE(answer.ok()) << to_string(answer.body);
  };
  change("grouped", R"({"metadata":{"labels":{"kueue.x-k8s.io/pod-group-name":"g"}}})");
  change("queued", R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"q"}}})");
  const std::string job(string_at(world->get("batch/v1", "Job", "lab", "train").value(), {"metadata", "uid"}));
  change("owned", R"({"metadata":{"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"train",
    "controller":true,"uid":")" +
                      job + "\"}]}}");
  auto remove = world->request_for("scheduling.k8s.io/v1", "PriorityClass", "", "gone").value();
  remove.verb = api::Verb::kDelete;
  ASSERT_TRUE(world->call(std::move(remove)).ok());
  const auto pods = versions(api::kPods), workloads = versions(api::kWorkloads);

  for (const char* verb : {"check", "run"}) {
    const Ran refused = import(verb, "lab", GetParam().mapping);
    EXPECT_EQ(refused.code, 1) << refused.said;
    EXPECT_THAT(refused.said, HasSubstr(GetParam().reason)) << verb;
    EXPECT_EQ(versions(api::kPods), pods);
    EXPECT_EQ(versions(api::kWorkloads), workloads);
  }
}

// A rule for the pods `is`, and one that skips the others.
std::string only(const std::string& is, const std::string& to) {
  return "- {match: {labels: {is: " + is + "}}, " + to + "}\n- {skip: true}";
}

INSTANTIATE_TEST_SUITE_P(
    Each, WrongMapping,
    testing::Values(
        Wrong{"NoRule", "- {match: {labels: {is: other}}, toLocalQueue: q}",
              "no rule of the mapping matches its labels and priority class"},
        Wrong{"NoLocalQueue", only("plain", "toLocalQueue: qq"), "there is no LocalQueue qq in namespace lab"},
        Wrong{"NoClusterQueue", only("plain", "toLocalQueue: nothing"),
              "LocalQueue nothing names ClusterQueue nothing, which does not exist"},
        Wrong{"NoQuota", only("plain", "toLocalQueue: empty"), "ClusterQueue empty has no spec.resourceGroups"},
        Wrong{"NoFlavor", only("plain", "toLocalQueue: dangling"),
              "ClusterQueue dangling names ResourceFlavor lost, which does not exist"},
        Wrong{"NotCovered", only("plain", "toLocalQueue: cpu-only"),
              "it requests memory, which ClusterQueue cpu-only does not cover"},
        Wrong{"OtherNode", only("plain", "toLocalQueue: steady-only"),
              "which has the nodeLabels of none of the flavors steady of ClusterQueue steady-only"},
        Wrong{"FlavorOfAnother", only("plain", "toLocalQueue: q, flavor: lost"),
              "the mapping names ResourceFlavor lost, which ClusterQueue all does not have"},
        Wrong{"OtherNamespaces", only("plain", "toLocalQueue: others"),
              "spec.namespaceSelector of ClusterQueue others does not select namespace lab"},
        Wrong{"Drained", only("plain", "toLocalQueue: drained"),
              "ClusterQueue drained is stopped with HoldAndDrain: the pod would be evicted"},
        Wrong{"NoPriorityClass", only("classy", "toLocalQueue: q"), "names PriorityClass gone, which does not exist"},
        Wrong{"OtherQueue", only("queued", "toLocalQueue: steady-only"), "names LocalQueue q, the mapping steady-only"},
        Wrong{"Group", only("grouped", "toLocalQueue: q"), "it belongs to the pod group g"},
        Wrong{"OwnerWithAQueue", only("owned", "toLocalQueue: q"), "its owner Job lab/train has a queue itself"}),
    [](const auto& info) { return info.param.name; });

// A webhook for pods is there: a pod that runs may not come to a queue.
TEST_F(Import, AWebhookThatRefusesTheLabelsIsFoundByTheCheck) {
  simulate::WorldOptions options;
  options.start = parse_time("2026-11-28T09:00:00Z").value();
  options.controller = false;
  options.manage_pods = true;
  options.node_manifests.push_back(node(kNodes - 1));
  world = simulate::World::make(options).value();
  objects(R"(
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}, spec: {}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: all}, spec: {namespaceSelector: {},
  resourceGroups: [{coveredResources: [cpu, memory], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 9},
  {name: memory, nominalQuota: 9Gi}]}]}]}}
)");
  ns("lab");
  local_queue("lab", "q", "all");
  pod("lab", "p", "a: b", "spot");
  world->run_for(std::chrono::seconds(10));
  const Ran checked = import("check", "lab", "- {toLocalQueue: q}");
  EXPECT_EQ(checked.code, 1);
  EXPECT_THAT(checked.said, HasSubstr("take pod out of integrations.frameworks while you import"));
  EXPECT_EQ(import("run", "lab", "- {toLocalQueue: q}").code, 1);
  EXPECT_TRUE(items(api::kWorkloads).empty());
}

}  // namespace
}  // namespace berth::cli::migrate::import_refusals_test
