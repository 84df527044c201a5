// Jobs of described kinds that wait in a queue, as a user of kubectl sees them, on `berth up`.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "e2e/one_queue.h"
#include "e2e/server.h"
#include "source_dir.h"
#include "support/process.h"

namespace berth::e2e::described_kinds_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// The samples are in the queue "main", and their pods run for half a minute.
std::string sample(const std::string& kind, const std::string& run_for) {
  std::string text = testing_support::content_of(source_path("config/samples/kinds/" + kind + ".yaml"));
  const auto put = [&text](std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  put("queue-name: main", "queue-name: team");
  put("run-for: 30s", "run-for: " + run_for);
  return text;
}

std::string blocker(int cpus, const std::string& more = "") {
  return "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: blocker, namespace: default, labels: "
         "{kueue.x-k8s.io/queue-name: team" +
         more +
         "}}, spec: {parallelism: 1, completions: 1, template: {metadata: {annotations: {berth.dev/run-for: 1h}}, "
         "spec: "
         "{restartPolicy: Never, terminationGracePeriodSeconds: 1, containers: [{name: c, image: none, resources: "
         "{requests: {cpu: " +
         std::to_string(cpus) + "}}}]}}}}";
}

class DescribedKinds : public OneQueue {
 protected:
  void SetUp() override {
    need_garbage_collector();
    if (IsSkipped()) return;
    OneQueue::SetUp();
  }
  void TearDown() override {
    if (IsSkipped()) return;
    must({"delete", "jobsets,pytorchjobs,mpijobs,jobs", "--all", "--timeout=100s"});
    EXPECT_TRUE(count_is("pods", 0)) << everything();
    EXPECT_TRUE(count_is("workloads", 0)) << everything();
    OneQueue::TearDown();
  }
  static bool count_is(const std::string& kind, long count) {
    return eventually([&] {
      const std::string names = must({"get", kind, "-o", "name"});
      return std::count(names.begin(), names.end(), '\n') == count;
    });
  }
  static bool holds(const std::string& kind, const std::string& name, const std::string& condition) {
    return becomes(kind, name, ".status.conditions[?(@.type==\"" + condition + "\")].status", "True");
  }
};

INSTANTIATE_TEST_SUITE_P(Clusters, DescribedKinds, testing::Values(On::kBerthUp), name_of);

TEST_P(DescribedKinds, JobsWaitForTheBlockerRunAndFinish) {
  must({"create", "-f", "-"}, blocker(2));
  ASSERT_TRUE(is_used("2")) << everything();
  for (const std::string kind : {"pytorchjob", "mpijob"}) must({"create", "-f", "-"}, sample(kind, "3s"));
  ASSERT_TRUE(is_waiting("2")) << everything();
  EXPECT_EQ(of("pytorchjob", "pytorch", ".spec.runPolicy.suspend"), "true");
  EXPECT_TRUE(holds("pytorchjob", "pytorch", "Suspended")) << everything();
  EXPECT_THAT(must({"get", "pytorchjobs"}), HasSubstr("Suspended"));
  EXPECT_THAT(must({"get", "workloads"}), HasSubstr("mpijob-mpi-"));
  EXPECT_TRUE(count_is("pods", 1)) << "the blocker alone\n" << everything();
  must({"delete", "job", "blocker", "--timeout=100s"});
  EXPECT_TRUE(holds("pytorchjob", "pytorch", "Succeeded")) << everything();
  EXPECT_TRUE(holds("mpijob", "mpi", "Succeeded")) << everything();
  EXPECT_THAT(must({"get", "pytorchjobs"}), HasSubstr("Succeeded"));
  EXPECT_TRUE(is_used("0")) << everything();
  EXPECT_TRUE(is_waiting("0")) << everything();
}

TEST_P(DescribedKinds, AJobSetOfTwoKindsOfJobsIsOneWorkload) {
  must({"create", "-f", "-"}, sample("jobset", "3s"));
  EXPECT_TRUE(runs("jobset-workers-3")) << everything();
  EXPECT_TRUE(is_used("3")) << everything();
  EXPECT_EQ(must({"get", "workloads", "-o", "jsonpath={.items[*].spec.podSets[*].name}"}), "driver workers");
  EXPECT_TRUE(holds("jobset", "jobset", "Completed")) << everything();
  EXPECT_TRUE(is_used("0")) << everything();
}

TEST_P(DescribedKinds, APreemptedJobIsSuspendedAndItsPodsGo) {
  must({"apply", "-f", "-"},
       "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: urgent}, value: 100}");
  must({"patch", "clusterqueue", "team", "--type=merge", "-p",
        R"({"spec":{"preemption":{"withinClusterQueue":"LowerPriority"}}})"});
  must({"create", "-f", "-"}, sample("pytorchjob", "1h"));
  ASSERT_TRUE(runs("pytorch-worker-1")) << everything();
  must({"create", "-f", "-"}, blocker(4, ", kueue.x-k8s.io/priority-class: urgent"));
  EXPECT_TRUE(holds("pytorchjob", "pytorch", "Suspended")) << everything();
  EXPECT_TRUE(count_is("pods", 1)) << everything();
  EXPECT_TRUE(is_used("4")) << everything();
  EXPECT_TRUE(is_waiting("1")) << everything();
  must({"delete", "job", "blocker", "--timeout=100s"});
  EXPECT_TRUE(runs("pytorch-worker-1")) << everything();
  EXPECT_TRUE(is_used("3")) << everything();
}

TEST_P(DescribedKinds, ADeletedPodComesBackAndTheJobKeepsItsQuota) {
  must({"create", "-f", "-"}, sample("mpijob", "1h"));
  ASSERT_TRUE(runs("mpi-launcher-0")) << everything();
  const std::string before = uid("mpi-worker-0"), workload = must({"get", "workloads", "-o", "name"});
  must({"delete", "pod", "mpi-worker-0", "--wait=false"});
  EXPECT_TRUE(eventually([&] { return uid("mpi-worker-0") != before && !uid("mpi-worker-0").empty(); }))
      << everything();
  EXPECT_TRUE(runs("mpi-worker-0")) << everything();
  EXPECT_EQ(must({"get", "workloads", "-o", "name"}), workload);
  EXPECT_TRUE(is_used("3")) << everything();
}

TEST(ForeignKind, ADescriptionMakesItWaitRunStopAndFinish) {
  Server server({"--job-kinds", source_path("config/samples/job-kinds")});
  const auto is = [&](const std::string& path, const std::string& value) {
    return eventually(
        [&] { return server.kubectl({"get", "elasticjob", "elastic", "-o", "jsonpath={" + path + "}"}).out == value; });
  };
  const auto stop_queue = [&](const std::string& policy) {
    server.must(
        {"patch", "clusterqueue", "team-a", "--type", "merge", "-p", R"({"spec":{"stopPolicy":")" + policy + R"("}})"});
  };
  server.must({"create", "-f", source_path("config/samples/first-queue.yaml")});
  stop_queue("Hold");
  std::string sample = testing_support::content_of(source_path("config/samples/elasticjob.yaml"));
  const std::string long_run = "run-for: 30s";
  ASSERT_NE(sample.find(long_run), std::string::npos);
  sample.replace(sample.find(long_run), long_run.size(), "run-for: 4s");
  ASSERT_TRUE(eventually([&] { return server.kubectl({"apply", "-f", "-"}, sample).exit_code == 0; }));
  EXPECT_TRUE(is(".status.phase", "Suspended"));
  stop_queue("None");
  EXPECT_TRUE(is(".status.phase", "Running"));
  stop_queue("HoldAndDrain");
  EXPECT_TRUE(is(".status.phase", "Suspended"));
  EXPECT_TRUE(is(".spec.suspend", "true"));
  const Finished refused = server.kubectl({"patch", "elasticjob", "elastic", "--type", "merge", "-p",
                                           R"({"spec":{"replicaSpecs":{"worker":{"autoScale":true}}}})"});
  EXPECT_THAT(refused.err, HasSubstr("autoScale must be false in a job with a queue name"));
  stop_queue("None");
  EXPECT_TRUE(is(".status.phase", "Succeeded"));
}

// A definition that serves the kind in this version only, and that has a suspend field of this type.
std::string definition(const std::string& kind, const std::string& plural, const std::string& version,
                       const std::string& suspend) {
  return "---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: " + plural +
         ".example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: " + kind + ", plural: " + plural +
         "}, versions: [{name: " + version +
         ", served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, "
         "properties: {suspend: {type: " +
         suspend + "}, template: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}}]}}\n";
}

std::string description(const std::string& kind) {
  return "apiVersion: berth.dev/v1alpha1\nkind: JobKind\nspec:\n  group: example.com\n  version: v1\n  kind: " + kind +
         "\n  suspend: spec.suspend\n  podSets: [{name: main, template: spec.template}]\n"
         "  finished: 'false'\n  active: 'false'\n  ready: 'true'\n";
}

TEST(ForeignKind, CheckTellsWhatTheWebhooksWouldRefuse) {
  const std::string dir = testing::TempDir() + "berth-kinds-check-" + std::to_string(getpid());
  std::filesystem::create_directories(dir);
  std::ofstream(dir + "/kind.yaml")
      << description("Even") +
             "  validations: [{rule: self.spec.size > 0, message: \"'too small'\", field: "
             "spec.size}]\n";
  const auto check =
      [&](const std::string& size, const std::string& queue) {
        std::ofstream(dir + "/even.yaml")
            << "{apiVersion: example.com/v1, kind: Even, metadata: {name: e, namespace: n, uid: "
               "u, labels: {kueue.x-k8s.io/queue-name: '" +
                   queue + "'}}, spec: {size: " + size + ", template: {spec: {containers: [{name: c, image: i}]}}}}\n";
        return run({BERTH_PROGRAM, "kinds", "check", dir + "/kind.yaml", dir + "/even.yaml"}, {});
      };
  EXPECT_THAT(check("1", "q").out, HasSubstr("kind: Workload"));
  EXPECT_THAT(check("0", "q").err, HasSubstr("/even.yaml: spec.size: Invalid value: too small\n"));
  const Finished both = check("0", "q!");
  EXPECT_EQ(both.exit_code, 1);
  EXPECT_THAT(both.err, testing::AllOf(HasSubstr("too small"), HasSubstr("[kueue.x-k8s.io/queue-name]")));
  std::filesystem::remove_all(dir);
}

TEST(ForeignKind, KindsTellsOnceThatThereIsNoServer) {
  const std::string dir = testing::TempDir() + "berth-kinds-without-server-" + std::to_string(getpid());
  std::filesystem::create_directories(dir);
  std::ofstream(dir + "/kubeconfig")
      << "apiVersion: v1\nkind: Config\ncurrent-context: a\n"
         "clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1', insecure-skip-tls-verify: true}}]\n"
         "contexts: [{name: a, context: {cluster: a, user: a}}]\n"
         "users: [{name: a, user: {}}]\n";
  const Finished table = run({BERTH_PROGRAM, "kinds", "--kubeconfig", dir + "/kubeconfig"}, {});
  EXPECT_THAT(table.out, ContainsRegex("PyTorchJob +kubeflow.org/v1 +[?] +[?] +- "));
  EXPECT_THAT(table.err, testing::StartsWith("berth: the cluster is not asked: https://127.0.0.1:1 cannot be used"));
  EXPECT_EQ(std::ranges::count(table.err, '\n'), 1);
  std::filesystem::remove_all(dir);
}

TEST(ForeignKind, KindsTellsWhichDescriptionsDoNotFitWhatIsInstalled) {
  Server server;
  const std::string dir = server.dir() + "/kinds";
  ASSERT_TRUE(std::filesystem::create_directory(dir));
  for (const std::string kind : {"Even", "Odd", "Moved", "Missing"})
    server.write_file("kinds/" + kind + ".yaml", description(kind));
  server.must({"create", "-f", "-"}, definition("Even", "evens", "v1", "boolean") +
                                         definition("Odd", "odds", "v1", "string") +
                                         definition("Moved", "moveds", "v2", "boolean"));
  const auto kinds = [&](const std::string& format) {
    return run({BERTH_PROGRAM, "kinds", "--kubeconfig", server.kubeconfig(), "--job-kinds", dir, "-o", format}, {});
  };
  const Finished table = kinds("text");
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_THAT(table.out, ContainsRegex("Even +example.com/v1 +yes +yes +0 "));
  EXPECT_THAT(table.out, ContainsRegex("Odd +example.com/v1 +yes +misfit +0 "));
  EXPECT_THAT(table.out, ContainsRegex("Moved +example.com/v1 +no +other version +- "));
  EXPECT_THAT(table.out, ContainsRegex("Missing +example.com/v1 +no +- +- "));
  EXPECT_THAT(table.out, ContainsRegex("PyTorchJob +kubeflow.org/v1 +yes +yes +0 "));
  EXPECT_THAT(table.err, HasSubstr("berth: Odd of example.com/v1: " + dir + "/Odd.yaml:7: spec.suspend: "));
  EXPECT_THAT(table.err, HasSubstr("berth: Moved of example.com/v1: the cluster serves version v2\n"));
  EXPECT_THAT(table.err, Not(HasSubstr("Even")));

  const auto json = parse_json(kinds("json").out);
  ASSERT_TRUE(json && json->is_array());
  for (const Json& kind : json->as_array()) {
    const bool odd = string_at(kind, {"kind"}) == "Odd", moved = string_at(kind, {"kind"}) == "Moved";
    EXPECT_EQ(string_at(kind, {"fit"}) == "misfit", odd) << to_string(kind);
    EXPECT_EQ(string_at(kind, {"fit"}) == "other version", moved) << to_string(kind);
    EXPECT_EQ(array_at(kind, {"reasons"}).empty(), !odd && !moved) << to_string(kind);
  }
}

}  // namespace
}  // namespace berth::e2e::described_kinds_test
