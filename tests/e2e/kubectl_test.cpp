// Uses Berth with the installed kubectl, on `berth up` and on a real API server.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <map>
#include <memory>

#include "e2e/manifests.h"
#include "e2e/server.h"

namespace berth::e2e::kubectl_test {
namespace {

// The queue "research" cannot borrow what "product" does not use.
const std::string kQueues =
    kDefaultFlavor + cluster_queue("product", 2, "cohortName: all") + local_queue("research", "research") + R"(---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
spec:
  cohortName: all
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: default
      resources: [{name: cpu, nominalQuota: 2, borrowingLimit: 0}]
)";

std::string job(const std::string& name, int cpus, const std::string& run_for = "1h") {
  return R"(
apiVersion: batch/v1
kind: Job
metadata:
  name: )" +
         name + R"(
  labels: {kueue.x-k8s.io/queue-name: research}
spec:
  suspend: true
  template:
    metadata: {annotations: {berth.dev/run-for: ")" +
         run_for + R"("}}
    spec:
      restartPolicy: Never
      containers:
      - {name: c, image: none, resources: {requests: {cpu: )" +
         std::to_string(cpus) + "}}}\n";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// One cluster of each kind for all tests of this file: the tests use different names.
class Kubectl : public OnBoth {
 protected:
  static void TearDownTestSuite() {
    if (const auto up = clusters_.find(On::kBerthUp); up != clusters_.end()) {
      EXPECT_EQ(dynamic_cast<Server&>(*up->second).stop().exit_code, 0);
    }
    clusters_.clear();
  }
  void SetUp() override {
    OnBoth::SetUp();
    if (IsSkipped() || clusters_.contains(GetParam())) return;
    clusters_[GetParam()] = make_cluster(GetParam(), "1x1x2");
    must({"apply", "-f", "-"}, kQueues);
  }
  static Cluster& cluster() { return *clusters_.at(GetParam()); }
  static std::string must(const std::vector<std::string>& arguments, const std::string& input = "") {
    return cluster().must(arguments, input);
  }
  static Finished kubectl(const std::vector<std::string>& arguments, const std::string& input = "") {
    return cluster().kubectl(arguments, input);
  }

 private:
  static std::map<On, std::unique_ptr<Cluster>> clusters_;
};
std::map<On, std::unique_ptr<Cluster>> Kubectl::clusters_;

INSTANTIATE_TEST_SUITE_P(Clusters, Kubectl, both(), name_of);

TEST_P(Kubectl, AJobOverQuotaWaitsAndSaysWhatIsMissingUntilThereIsRoom) {
  need_garbage_collector();
  if (IsSkipped()) return;
  must({"apply", "-f", "-"}, job("first", 2));
  ASSERT_TRUE(eventually([] { return must({"get", "job", "first", "-o", "jsonpath={.spec.suspend}"}) == "false"; }))
      << must({"get", "workloads", "-o", "yaml"});
  must({"apply", "-f", "-"}, job("second", 2));
  const auto reason = [] {
    return must({"get", "workloads", "-l",
                 "kueue.x-k8s.io/job-uid=" + must({"get", "job", "second", "-o", "jsonpath={.metadata.uid}"}), "-o",
                 "jsonpath={.items[0].status.conditions[?(@.type==\"QuotaReserved\")].message}"});
  };
  ASSERT_TRUE(eventually([&] { return !reason().empty(); }));
  const std::string why = reason();
  EXPECT_TRUE(has(why, "cpu") && has(why, "default") && has(why, "2")) << why;
  EXPECT_EQ(must({"get", "job", "second", "-o", "jsonpath={.spec.suspend}"}), "true");
  const std::string table = must({"get", "cq,lq,workloads,jobs"});
  for (const char* column : {"COHORT", "PENDING WORKLOADS", "CLUSTERQUEUE", "ADMITTED WORKLOADS", "QUEUE",
                             "RESERVED IN", "ADMITTED", "COMPLETIONS"}) {
    EXPECT_TRUE(has(table, column)) << column << " in\n" << table;
  }
  must({"delete", "job", "first"});
  EXPECT_TRUE(eventually([] { return must({"get", "job", "second", "-o", "jsonpath={.spec.suspend}"}) == "false"; }));
  must({"delete", "job", "second"});
}

TEST_P(Kubectl, AJobRunsToItsEnd) {
  must({"create", "-f", "-"}, job("short", 1, "1s"));
  EXPECT_TRUE(has(must({"wait", "--for=condition=complete", "--timeout=100s", "job/short"}), "condition met"));
  EXPECT_TRUE(has(must({"describe", "job", "short"}), "Completed"));
  EXPECT_TRUE(has(must({"get", "events"}), "Admitted"));
  must({"delete", "job", "short"});
}

TEST_P(Kubectl, CreatesReadsPatchesLabelsAndDeletes) {
  must({"create", "configmap", "cm", "--from-literal=a=1"});
  EXPECT_EQ(must({"get", "configmap", "cm", "-o", "jsonpath={.data.a}"}), "1");
  EXPECT_TRUE(has(must({"get", "cm", "cm", "-o", "wide"}), "NAME"));
  EXPECT_TRUE(has(must({"get", "cm", "cm", "-o", "yaml"}), "a: \"1\""));
  EXPECT_TRUE(has(must({"describe", "cm", "cm"}), "Data"));
  must({"patch", "cm", "cm", "-p", R"({"data":{"b":"2"}})"});
  must({"patch", "cm", "cm", "--type=merge", "-p", R"({"data":{"c":"3"}})"});
  must({"patch", "cm", "cm", "--type=json", "-p", R"([{"op":"remove","path":"/data/a"}])"});
  EXPECT_EQ(must({"get", "cm", "cm", "-o", "jsonpath={.data}"}), R"({"b":"2","c":"3"})");
  must({"label", "cm", "cm", "team=x"});
  must({"annotate", "cm", "cm", "note=y"});
  EXPECT_TRUE(has(must({"get", "cm", "-l", "team=x"}), "cm"));
  EXPECT_FALSE(has(must({"get", "cm", "-l", "team=z"}), "cm "));
  must({"replace", "-f", "-"}, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cm"},"data":{"z":"9"}})");
  EXPECT_EQ(must({"get", "cm", "cm", "-o", "jsonpath={.data}"}), R"({"z":"9"})");
  EXPECT_TRUE(has(must({"delete", "cm", "cm"}), "deleted"));
  const Finished gone = kubectl({"get", "cm", "cm"});
  EXPECT_EQ(gone.exit_code, 1);
  EXPECT_TRUE(has(gone.err, "NotFound")) << gone.err;
}

TEST_P(Kubectl, AppliesDiffsAndAppliesOnTheServersSide) {
  const std::string one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ap}\ndata: {a: '1', b: '2'}\n";
  const std::string two = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ap}\ndata: {a: '5'}\n";
  EXPECT_TRUE(has(must({"apply", "-f", "-"}, one), "created"));
  EXPECT_TRUE(has(must({"apply", "-f", "-"}, one), "unchanged"));
  const Finished diff = kubectl({"diff", "-f", "-"}, two);
  EXPECT_EQ(diff.exit_code, 1) << diff.err;
  EXPECT_TRUE(has(diff.out, "+  a: \"5\"")) << diff.out;
  EXPECT_TRUE(has(must({"apply", "-f", "-"}, two), "configured"));
  EXPECT_EQ(must({"get", "cm", "ap", "-o", "jsonpath={.data}"}), R"({"a":"5"})");
  const std::string mine = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ssa}\ndata: {a: '1'}\n";
  const std::string theirs = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ssa}\ndata: {a: '2'}\n";
  must({"apply", "--server-side", "--field-manager=one", "-f", "-"}, mine);
  const Finished conflict = kubectl({"apply", "--server-side", "--field-manager=two", "-f", "-"}, theirs);
  EXPECT_NE(conflict.exit_code, 0);
  EXPECT_TRUE(has(conflict.err, "conflict")) << conflict.err;
  must({"apply", "--server-side", "--force-conflicts", "--field-manager=two", "-f", "-"}, theirs);
  EXPECT_EQ(must({"get", "cm", "ssa", "-o", "jsonpath={.data.a}"}), "2");
  must({"delete", "cm", "ap", "ssa"});
}

TEST_P(Kubectl, EditsWithAnEditor) {
  must({"create", "configmap", "ed", "--from-literal=a=before"});
  const std::string editor = cluster().write_file("editor", "#!/bin/sh\nsed -i 's/before/after/' \"$1\"\n");
  auto environment = cluster().environment();
  environment.emplace_back("KUBE_EDITOR", editor);
  const Finished edited = run({"kubectl", "edit", "cm", "ed"}, environment);
  EXPECT_EQ(edited.exit_code, 0) << edited.err;
  EXPECT_EQ(must({"get", "cm", "ed", "-o", "jsonpath={.data.a}"}), "after");
  must({"delete", "cm", "ed"});
}

TEST_P(Kubectl, WatchesChanges) {
  must({"create", "configmap", "w0", "--from-literal=a=1"});
  Process watch({"kubectl", "get", "cm", "-w", "-o", "name"}, cluster().environment());
  ASSERT_TRUE(watch.wait_for_output("configmap/w0\n")) << watch.err();
  must({"create", "configmap", "w1", "--from-literal=a=1"});
  EXPECT_TRUE(watch.wait_for_output("configmap/w1\n")) << watch.out() << watch.err();
  Process table({"kubectl", "get", "cm", "w0", "-w"}, cluster().environment());
  ASSERT_TRUE(table.wait_for_output("w0 ")) << table.err();
  must({"patch", "cm", "w0", "-p", R"({"data":{"b":"2"}})"});
  EXPECT_TRUE(table.wait_for_output("w0     2")) << table.out() << table.err();
  must({"delete", "cm", "w0", "w1"});
}

TEST_P(Kubectl, ScalesACustomResource) {
  must({"apply", "-f", "-"}, R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: fleets.e2e.example.com}
spec:
  group: e2e.example.com
  scope: Namespaced
  names: {plural: fleets, singular: fleet, kind: Fleet, listKind: FleetList, shortNames: [fl]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {replicas: {type: integer, description: How many ships.}}}
          status: {type: object, properties: {replicas: {type: integer}}}
)");
  must({"wait", "--for=condition=established", "--timeout=100s", "crd/fleets.e2e.example.com"});
  must({"apply", "-f", "-"}, "apiVersion: e2e.example.com/v1\nkind: Fleet\nmetadata: {name: f}\nspec: {replicas: 1}\n");
  must({"scale", "fleet/f", "--replicas=4"});
  EXPECT_EQ(must({"get", "fl", "f", "-o", "jsonpath={.spec.replicas}"}), "4");
  EXPECT_TRUE(has(must({"explain", "fleet.spec.replicas"}), "How many ships."));
  must({"delete", "crd", "fleets.e2e.example.com"});
  EXPECT_NE(kubectl({"get", "fleets"}).exit_code, 0);
}

TEST_P(Kubectl, ExplainsWhatItServes) {
  const std::string resources = must({"api-resources"});
  for (const char* name : {"clusterqueues", "workloads", "configmaps", "jobs", "customresourcedefinitions"}) {
    EXPECT_TRUE(has(resources, name)) << name << " in\n" << resources;
  }
  EXPECT_TRUE(has(must({"api-versions"}), "kueue.x-k8s.io/v1beta2"));
  EXPECT_TRUE(has(must({"explain", "clusterqueue.spec.cohortName"}), "cohort"));
  EXPECT_TRUE(has(must({"explain", "job.spec.parallelism"}), "integer"));
  EXPECT_TRUE(has(must({"version"}), "Server Version: "));
  EXPECT_TRUE(has(must({"get", "--raw", "/readyz"}), "ok"));
  EXPECT_TRUE(has(must({"get", "--raw", "/metrics"}), "apiserver_request_total{"));
}

TEST_P(Kubectl, SaysWhoOneIsAndWhatOneMay) {
  if (kubectl_minor() >= 28) {
    EXPECT_TRUE(has(must({"auth", "whoami"}), "kubernetes-admin"));
  }
  EXPECT_TRUE(has(must({"auth", "can-i", "create", "jobs"}), "yes"));
  EXPECT_TRUE(has(must({"auth", "can-i", "--list"}), "*.*"));
}

TEST_P(Kubectl, NamespacesComeAndGo) {
  need_garbage_collector();
  if (IsSkipped()) return;
  must({"create", "namespace", "team"});
  must({"create", "configmap", "inside", "-n", "team", "--from-literal=a=1"});
  must({"delete", "namespace", "team", "--timeout=100s"});
  EXPECT_NE(kubectl({"get", "cm", "inside", "-n", "team"}).exit_code, 0);
}

TEST_P(Kubectl, BadInputGetsOneClearError) {
  struct Case {
    std::vector<std::string> arguments;
    std::string input;
    std::vector<std::string> words;
  };
  const std::string meta = "metadata: {name: bad}\n";
  const std::string queue = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\n" + meta;
  const std::vector<Case> cases = {
      {{"apply", "-f", "-"}, queue + "spec: {cohort: x}\n", {"cohort"}},
      {{"apply", "-f", "-"}, queue + "spec: {queueingStrategy: 5}\n", {"queueingStrategy"}},
      {{"apply", "-f", "-"},
       queue + "spec:\n  resourceGroups:\n  - coveredResources: [cpu]\n    flavors:\n    - name: f\n      "
               "resources: [{name: cpu, nominalQuota: -1}]\n",
       {"vclusterqueue.kb.io", "nominalQuota"}},
      {{"apply", "-f", "-"},
       queue + "spec:\n  resourceGroups:\n  - coveredResources: [cpu]\n    flavors:\n    - name: f\n      "
               "resources: [{name: cpu, nominalQuota: 1, borrowingLimit: 1}]\n",
       {"bad", "borrowingLimit"}},
      {{"apply", "-f", "-"}, "apiVersion: v1\nkind: ConfigMap\n" + meta + "data: [1\n", {"yaml"}},
      {{"create", "-f", "-"},
       "apiVersion: v1\nkind: ConfigMap\n" + meta + "data: {a: '" + std::string(4u << 20, 'x') + "'}\n",
       {"too large"}},
      {{"get", "configmaps", "--field-selector", "data.a=1"}, "", {"data.a"}},
  };
  for (const Case& c : cases) {
    const Finished refused = kubectl(c.arguments, c.input);
    EXPECT_NE(refused.exit_code, 0) << c.input.substr(0, 300);
    for (const std::string& word : c.words)
      EXPECT_TRUE(has(refused.err, word)) << word << " in\n" << refused.err.substr(0, 2000);
  }
  EXPECT_NE(kubectl({"get", "cq", "bad"}).exit_code, 0);
  EXPECT_NE(kubectl({"get", "cm", "bad"}).exit_code, 0);
}

}  // namespace
}  // namespace berth::e2e::kubectl_test
