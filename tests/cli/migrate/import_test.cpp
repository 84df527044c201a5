// berth import: pods that run in a cluster become admitted workloads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/migrate/import_fixture.h"
#include "cli/queues/complete.h"

namespace berth::cli::migrate::import_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::Import;
using testing_support::Ran;

// 20 namespaces with 100 pods each; the pods of odd numbers run on nodes of the flavor spot.
TEST_F(Import, TwoThousandRunningPodsAreAdmittedAndNoneRestarts) {
  std::string namespaces;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "team-" + std::to_string(i);
    namespaces += (i == 0 ? "" : ",") + name;
    ns(name);
    local_queue(name, "imported", "all");
    for (int k = 0; k < 100; ++k) pod(name, "p" + std::to_string(k), "app: train", k % 2 == 0 ? "steady" : "spot");
  }
  world->run_for(std::chrono::seconds(30));
  const auto before = lives();
  ASSERT_EQ(before.size(), 2000u);
  lead(false);

  const std::string mapping = "- {match: {labels: {app: train}}, toLocalQueue: imported}";
  const Ran checked = import("check", namespaces, mapping);
  ASSERT_EQ(checked.code, 0) << checked.said;
  EXPECT_THAT(checked.said, HasSubstr("2000 ready, 0 imported before, 0 skipped, 0 refused"));
  EXPECT_TRUE(items(api::kWorkloads).empty()) << "check writes nothing";

  const Time began = world->executor().now();
  const Ran done = import("run", namespaces, mapping, {"--qps", "100", "--burst", "100"});
  ASSERT_EQ(done.code, 0) << done.said;
  EXPECT_THAT(done.said, HasSubstr("2000 pods are imported"));
  const auto took = world->executor().now() - began;
  EXPECT_GE(took, std::chrono::seconds(78)) << "8,000 writes at 100 per second, 100 of them at once";
  EXPECT_LE(took, std::chrono::seconds(90));

  // Berth looks after pods from now on.
  controller.reset();
  lead(true);
  world->run_for(std::chrono::minutes(5));
  EXPECT_EQ(lives(), before);
  std::map<std::string, int> flavors;
  const auto workloads = items(api::kWorkloads);
  ASSERT_EQ(workloads.size(), 2000u);
  for (const Json& workload : workloads) {
    EXPECT_EQ(condition(workload, "Admitted"), "True Imported");
    EXPECT_EQ(condition(workload, "Evicted"), "");
    EXPECT_EQ(find_path(workload, {"metadata", "annotations", "kueue.x-k8s.io/admission-gated-by"}), nullptr);
    const Json& assignment = array_at(workload, {"status", "admission", "podSetAssignments"}).at(0);
    const auto flavor = string_at(assignment, {"flavors", "cpu"});
    ++flavors[std::string(flavor)];
    const auto owner = string_at(array_at(workload, {"metadata", "ownerReferences"}).at(0), {"name"});
    EXPECT_EQ(flavor, (owner.back() - '0') % 2 == 0 ? "steady" : "spot") << owner;
    EXPECT_EQ(string_at(assignment, {"resourceUsage", "cpu"}), "500m");
  }
  EXPECT_EQ(flavors, (std::map<std::string, int>{{"steady", 1000}, {"spot", 1000}}));
  const Json queue = world->get("kueue.x-k8s.io/v1beta2", "ClusterQueue", "", "all").value();
  EXPECT_EQ(int_at(queue, {"status", "admittedWorkloads"}), 2000);

  const auto versions_before = versions(api::kPods);
  const Ran again = import("run", namespaces, mapping);
  EXPECT_EQ(again.code, 0) << again.said;
  EXPECT_THAT(again.said, HasSubstr("0 pods are imported, 2000 were before"));
  EXPECT_EQ(versions(api::kPods), versions_before);
}

TEST_F(Import, AnImportedPodGivesItsQuotaBackWhenItEnds) {
  ns("lab");
  local_queue("lab", "q", "all");
  objects(
      "{apiVersion: v1, kind: Pod, metadata: {name: short, namespace: lab, annotations: {berth.dev/run-for: 10m}}, "
      "spec: {restartPolicy: Never, nodeSelector: {lifecycle: spot}, containers: [{name: c, image: i, resources: "
      "{requests: {cpu: 1}}}]}}");
  world->run_for(std::chrono::seconds(10));
  const Ran done = import("run", "lab", "- {toLocalQueue: q}", {"--add-labels", "moved=yes"});
  ASSERT_EQ(done.code, 0) << done.said;
  const Json imported = world->get("v1", "Pod", "lab", "short").value();
  EXPECT_EQ(string_at(imported, {"metadata", "labels", "moved"}), "yes");
  EXPECT_EQ(string_at(items(api::kWorkloads).at(0), {"metadata", "labels", "moved"}), "yes");
  lead(true);
  world->run_for(std::chrono::minutes(15));
  const auto workloads = items(api::kWorkloads);
  ASSERT_EQ(workloads.size(), 1u);
  EXPECT_EQ(condition(workloads[0], "Finished"), "True Succeeded");
  const Json queue = world->get("kueue.x-k8s.io/v1beta2", "ClusterQueue", "", "all").value();
  EXPECT_EQ(int_at(queue, {"status", "reservingWorkloads"}), 0);
}

// The import stopped after each of its writes, and begins again.
TEST_F(Import, GoesOnWhereItStopped) {
  ns("lab");
  local_queue("lab", "q", "all");
  pod("lab", "p", "a: b", "spot");
  world->run_for(std::chrono::seconds(10));
  lead(false);
  const std::string mapping = "- {toLocalQueue: q}";
  ASSERT_EQ(import("run", "lab", mapping).code, 0);
  const Json whole = items(api::kWorkloads).at(0);
  const std::string name(string_at(whole, {"metadata", "name"}));
  const auto patch = [&](const api::GroupVersionResource& resource, const std::string& object, const std::string& body,
                         const std::string& subresource = "") {
    api::RestRequest request;
    request.verb = api::Verb::kPatch;
    request.resource = resource;
    request.ns = "lab";
    request.name = object;
    request.subresource = subresource;
    request.body = parse_json(body).value();
    const auto answer = world->call_past_webhooks(std::move(request));
    EXPECT_TRUE(answer.ok()) << to_string(answer.body);
  };
  const std::string gate = R"({"metadata":{"annotations":{"kueue.x-k8s.io/admission-gated-by":"berth.dev/import"}}})";
  const std::string bare =
      R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":null,"kueue.x-k8s.io/managed":null}}})";
  controller.reset();
  patch(api::kPods, "p", bare);
  EXPECT_THAT(import("check", "lab", mapping).said, HasSubstr("1 ready")) << "only the labels are missing";
  patch(api::kWorkloads, name, gate);
  patch(api::kWorkloads, name, R"({"status":{"conditions":null,"admission":null}})", "status");
  lead(false);
  world->run_for(std::chrono::seconds(30));
  EXPECT_THAT(condition(items(api::kWorkloads).at(0), "Admitted"), Not(HasSubstr("True")))
      << "the gate keeps the controller from choosing a flavor";
  const Ran done = import("run", "lab", mapping);
  EXPECT_EQ(done.code, 0) << done.said;
  EXPECT_EQ(condition(items(api::kWorkloads).at(0), "Admitted"), "True Imported");
  EXPECT_THAT(import("check", "lab", mapping).said, HasSubstr("0 ready, 1 imported before"));
}

// The place of the pod is where it runs: no other is looked for, and nobody else gets it.
TEST_F(Import, PodsOfAFlavorWithATopologyStayWhereTheyRun) {
  objects(R"(
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: hosts}, spec: {levels: [{nodeLabel:
  kubernetes.io/hostname}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: placed}, spec: {nodeLabels: {lifecycle:
  spot}, topologyName: hosts}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: placed}, spec: {namespaceSelector: {},
  resourceGroups: [{coveredResources: [cpu, memory], flavors: [{name: placed, resources: [{name: cpu, nominalQuota: 9},
  {name: memory, nominalQuota: 9Gi}]}]}]}}
)");
  ns("lab");
  local_queue("lab", "q", "placed");
  for (const char* name : {"a", "b", "c"}) pod("lab", name, "a: b", "spot");
  world->run_for(std::chrono::seconds(10));
  const auto before = lives();
  lead(false);
  const Ran done = import("run", "lab", "- {toLocalQueue: q}");
  ASSERT_EQ(done.code, 0) << done.said;
  controller.reset();
  lead(true);
  world->run_for(std::chrono::minutes(10));
  EXPECT_EQ(lives(), before);
  for (const Json& workload : items(api::kWorkloads)) {
    EXPECT_EQ(condition(workload, "Admitted"), "True Imported");
    EXPECT_EQ(condition(workload, "Evicted"), "");
  }
}

// Checks would ask for nodes that are there already.
TEST_F(Import, AdmissionChecksCountAsReady) {
  objects(R"(
{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: budget}, spec: {controllerName: a.com/b}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: checked}, spec: {namespaceSelector: {},
  admissionChecksStrategy: {admissionChecks: [{name: budget}]}, resourceGroups: [{coveredResources: [cpu, memory],
  flavors: [{name: spot, resources: [{name: cpu, nominalQuota: 9}, {name: memory, nominalQuota: 9Gi}]}]}]}}
)");
  ns("lab");
  local_queue("lab", "q", "checked");
  pod("lab", "p", "a: b", "spot");
  world->run_for(std::chrono::seconds(10));
  const auto before = lives();
  lead(false);
  ASSERT_EQ(import("run", "lab", "- {toLocalQueue: q}").code, 0);
  controller.reset();
  lead(true);
  world->run_for(std::chrono::minutes(5));
  EXPECT_EQ(lives(), before);
  const Json workload = items(api::kWorkloads).at(0);
  EXPECT_EQ(condition(workload, "Admitted"), "True Imported");
  const JsonArray& checks = array_at(workload, {"status", "admissionChecks"});
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(string_at(checks[0], {"state"}), "Ready");
}

TEST_F(Import, TheWayBackStopsNoPod) {
  ns("lab");
  local_queue("lab", "q", "all");
  pod("lab", "p", "a: b", "spot");
  world->run_for(std::chrono::seconds(10));
  const auto before = lives();
  lead(false);
  ASSERT_EQ(import("run", "lab", "- {toLocalQueue: q}").code, 0);
  api::RestRequest request;
  request.verb = api::Verb::kPatch;
  request.resource = api::kPods;
  request.ns = "lab";
  request.name = "p";
  request.body =
      parse_json(R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":null,"kueue.x-k8s.io/managed":null}}})").value();
  const auto bare = world->call(std::move(request));
  ASSERT_TRUE(bare.ok()) << to_string(bare.body);
  const std::string name(string_at(items(api::kWorkloads).at(0), {"metadata", "name"}));
  for (const auto verb : {api::Verb::kPatch, api::Verb::kDelete}) {
    request = {};
    request.verb = verb;
    request.resource = api::kWorkloads;
    request.ns = "lab";
    request.name = name;
    if (verb == api::Verb::kPatch) request.body = parse_json(R"({"metadata":{"finalizers":null}})").value();
    ASSERT_TRUE(world->call(std::move(request)).ok());
  }
  world->run_for(std::chrono::seconds(60));
  EXPECT_TRUE(items(api::kWorkloads).empty());
  EXPECT_EQ(lives(), before);
}

TEST_F(Import, WhatDoesNotRunIsSkippedAndOverQuotaIsSaid) {
  ns("lab");
  local_queue("lab", "q", "all");
  pod("lab", "runs", "a: b", "spot");
  pod("lab", "nowhere", "a: b", "none");
  pod("lab", "system", "a: c", "spot");
  objects(
      "{apiVersion: v1, kind: Pod, metadata: {name: ended, namespace: lab, annotations: {berth.dev/run-for: 1s}}, "
      "spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}");
  world->run_for(std::chrono::seconds(30));
  objects(R"({apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: tight}, spec: {namespaceSelector:
    {}, resourceGroups: [{coveredResources: [cpu, memory, pods], flavors: [{name: spot, resources: [{name: cpu,
    nominalQuota: 100m}, {name: memory, nominalQuota: 1Gi}, {name: pods, nominalQuota: 5}]}]}]}})");
  local_queue("lab", "t", "tight");
  const Ran checked =
      import("check", "lab", "- {match: {labels: {a: c}}, skip: true}\n- {toLocalQueue: t}", {"-o", "json"});
  EXPECT_EQ(checked.code, 0) << checked.said;
  const Json out = parse_json(checked.said).value();
  std::map<std::string, std::string> results;
  for (const Json& one : array_at(out, {"pods"}))
    results[std::string(string_at(one, {"name"}))] =
        std::string(string_at(one, {"result"})) + ": " + std::string(string_at(one, {"reason"}));
  EXPECT_EQ(results,
            (std::map<std::string, std::string>{{"nowhere", "skipped: it has no node yet: import again when it runs"},
                                                {"runs", "ready: "},
                                                {"system", "skipped: a rule of the mapping skips it"}}));
  ASSERT_EQ(array_at(out, {"overQuota"}).size(), 1u);
  EXPECT_THAT(to_string(array_at(out, {"overQuota"})[0]),
              HasSubstr("ClusterQueue tight, flavor spot: cpu 500m of nominal 100m"));
  EXPECT_EQ(string_at(array_at(out, {"pods"})[1], {"flavors", "pods"}), "spot") << "pods count as well";
}

TEST_F(Import, NamespacesAndFormatsAreCompleted) {
  ns("lab");
  CLI::App root{"", "berth"};
  const auto command = add_import(root, queues::Session());
  const auto after = [&](const std::vector<std::string>& words) {
    return queues::complete(root, words, [this](const AccessFlags&) -> Result<std::unique_ptr<queues::Server>> {
      return std::make_unique<testing_support::WorldServer>(*world);
    });
  };
  EXPECT_THAT(after({"import", ""}), testing::ElementsAre("check", "run"));
  EXPECT_THAT(after({"import", "check", "-n", "la"}), testing::ElementsAre("lab"));
  EXPECT_THAT(after({"import", "run", "-o", ""}), testing::ElementsAre("json", "text"));
  EXPECT_THAT(after({"import", "run", "--queuem"}), testing::ElementsAre("--queuemapping", "--queuemapping-file"));
}

TEST_F(Import, OneLabelIsAMappingToo) {
  ns("lab");
  local_queue("lab", "red", "all");
  pod("lab", "p", "team: r", "spot");
  world->run_for(std::chrono::seconds(10));
  const Ran done = testing_support::run(
      *world, {"import", "run", "-n", "lab", "--queuelabel", "team", "--queuemapping", "r=red"}, true);
  EXPECT_EQ(done.code, 0) << done.said;
  EXPECT_THAT(done.said, HasSubstr("importing 1 of 1: lab/p")) << "progress on a terminal";
  EXPECT_THAT(testing_support::run(*world, {"import", "check", "-n", "lab"}).said,
              HasSubstr("--queuemapping-file, or --queuelabel with --queuemapping"));
}

}  // namespace
}  // namespace berth::cli::migrate::import_test
