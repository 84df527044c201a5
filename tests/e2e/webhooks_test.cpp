// The effects of Kueue's webhooks for clients: in process in `berth up`, called by the API server where that is a
// real one.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "e2e/server.h"
#include "source_dir.h"

namespace berth::e2e::webhooks_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string job(const std::string& name, const std::string& queue) {
  return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name +
         ", labels: {kueue.x-k8s.io/queue-name: " + queue +
         "}}\nspec:\n  template:\n    metadata: {annotations: {berth.dev/run-for: 1h}}\n    spec:\n      "
         "restartPolicy: Never\n"
         "      containers: [{name: c, image: none, resources: {requests: {cpu: 1}}}]\n";
}

class Webhooks : public OnBoth {
 protected:
  void SetUp() override {
    OnBoth::SetUp();
    if (!IsSkipped()) cluster_ = make_cluster(GetParam(), "1x1x2");
  }
  std::string must(const std::vector<std::string>& arguments, const std::string& input = "") {
    return cluster_->must(arguments, input);
  }
  std::string refusal(const std::vector<std::string>& arguments, const std::string& input = "") {
    const Finished refused = cluster_->kubectl(arguments, input);
    EXPECT_NE(refused.exit_code, 0) << refused.out;
    return refused.err;
  }

  std::unique_ptr<Cluster> cluster_;
};

INSTANTIATE_TEST_SUITE_P(Clusters, Webhooks, both(), name_of);

// One cluster for all checks: starting a cluster takes longer than the checks.
TEST_P(Webhooks, SuspendJobsJudgeWhatChangesAndConvertVersions) {
  must({"apply", "-f", "-"}, job("waits", "nowhere"));
  EXPECT_EQ(must({"get", "job", "waits", "-o", "jsonpath={.spec.suspend}"}), "true") << "as a job with a queue begins";

  // A manifest of the older version, and how each version shows it.
  must({"apply", "-f", "-"}, R"(
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: old}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: old}
spec:
  cohort: together
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: old, resources: [{name: cpu, nominalQuota: 4}]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: old, namespace: default}
spec: {clusterQueue: old}
)");
  const auto shown = [&](const std::string& version, const std::string& path) {
    return must({"get", "clusterqueues." + version + ".kueue.x-k8s.io", "old", "-o", "jsonpath={" + path + "}"});
  };
  EXPECT_EQ(shown("v1beta1", ".spec.cohort"), "together");
  EXPECT_EQ(shown("v1beta1", ".spec.cohortName"), "");
  EXPECT_EQ(shown("v1beta2", ".spec.cohortName"), "together");
  EXPECT_EQ(shown("v1beta2", ".spec.cohort"), "");

  // A job in that queue runs, and may not move to another queue while it runs.
  must({"apply", "-f", "-"}, job("runs", "old"));
  ASSERT_TRUE(eventually([&] { return must({"get", "job", "runs", "-o", "jsonpath={.spec.suspend}"}) == "false"; }))
      << must({"get", "workloads", "-o", "yaml"});
  EXPECT_TRUE(
      has(must({"get", "workloads.v1beta1.kueue.x-k8s.io", "-o", "jsonpath={.items[*].status.admission.clusterQueue}"}),
          "old"));
  EXPECT_TRUE(has(refusal({"label", "--overwrite", "job", "runs", "kueue.x-k8s.io/queue-name=other"}),
                  "metadata.labels[kueue.x-k8s.io/queue-name]"));
  must({"label", "--overwrite", "job", "waits", "kueue.x-k8s.io/queue-name=old"});
  EXPECT_TRUE(eventually([&] { return must({"get", "job", "waits", "-o", "jsonpath={.spec.suspend}"}) == "false"; }));

  // Updates are validated too.
  EXPECT_TRUE(has(
      refusal(
          {"patch", "clusterqueue", "old", "--type=json", "-p",
           R"([{"op":"replace","path":"/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota","value":"-1"}])"}),
      "nominalQuota"));
  EXPECT_TRUE(has(refusal({"apply", "-f", "-"},
                          "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: c}\nspec: "
                          "{parentName: 'Not a name'}\n"),
                  "parentName"));
}

// Volcano's definitions are installed late: until the webhooks have read the queues, they allow everything.
TEST_P(Webhooks, JudgeVolcanosQueuesAndWhatNamesThemAndLetJobsRun) {
  for (const char* name : {"queues", "podgroups", "commands", "jobs"})
    must({"apply", "--server-side", "-f", source_path("config/crd/volcano-") + name + ".yaml"});
  const auto queue = [](const std::string& name, const std::string& spec) {
    return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " + name + "}\nspec: " + spec +
           "\n";
  };
  const auto group = [](const std::string& in) {
    return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g, namespace: default}\nspec: "
           "{minMember: 1, queue: " +
           in + "}\n";
  };
  const auto vcjob = [](const std::string& in) {
    return "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j, namespace: default}\nspec: {queue: " +
           in +
           ", tasks: [{replicas: 1, template: {metadata: {annotations: {berth.dev/run-for: 1s}}, spec: {restartPolicy: "
           "Never, "
           "containers: [{name: c, image: none, resources: {requests: {cpu: 1}}}]}}}]}\n";
  };
  const auto refused = [&](std::vector<std::string> arguments, const std::string& why, const std::string& input = "") {
    arguments.push_back("--dry-run=server");
    Finished last;
    const bool in_time = eventually([&] {
      last = cluster_->kubectl(arguments, input);
      return last.exit_code != 0 && has(last.err, why);
    });
    EXPECT_TRUE(in_time) << why << "\n" << last.out << last.err;
  };
  const std::vector<std::string> create = {"create", "-f", "-"};
  refused(create, "there is no queue nobody", queue("lost", "{parent: nobody}"));
  refused(create, "deserved", queue("odd", "{guarantee: {resource: {cpu: 1}}}"));
  must(create, queue("team", "{}"));
  EXPECT_EQ(must({"get", "queues.scheduling.volcano.sh", "team", "-o", "jsonpath={.spec.weight} {.spec.reclaimable}"}),
            "1 true");
  ASSERT_TRUE(eventually([&] { return cluster_->kubectl(create, queue("leaf", "{parent: team}")).exit_code == 0; }));
  refused({"delete", "queues.scheduling.volcano.sh", "team"}, "it has 1 child queue(s): leaf");
  refused({"patch", "queues.scheduling.volcano.sh", "team", "--type=merge", "-p", R"({"spec":{"parent":"leaf"}})"},
          "queue leaf is below queue team");
  using Manifest = std::function<std::string(const std::string& queue)>;
  for (const Manifest& work : {Manifest(group), Manifest(vcjob)}) {
    refused(create, "there is no queue nobody", work("nobody"));
    refused(create, "queue team has 1 child queue(s) and takes no work itself", work("team"));
  }
  // Admitted jobs get quota and pods.
  must(create, vcjob("leaf"));
  EXPECT_TRUE(eventually([&] {
    return must({"get", "jobs.batch.volcano.sh", "j", "-o", "jsonpath={.status.state.phase}"}) == "Completed";
  })) << must({"get", "jobs.batch.volcano.sh,podgroups.scheduling.volcano.sh,queues.scheduling.volcano.sh,pods", "-o",
               "yaml"});
}

TEST_P(Webhooks, LetEverySamplePass) {
  for (const char* name : {"first-queue.yaml", "topology-queue.yaml", "topology-job.yaml", "job.yaml"}) {
    const std::string path = source_path("config/samples/") + name;
    EXPECT_TRUE(has(must({"create", "--validate=true", "-f", path}), "created")) << name;
  }
}

}  // namespace
}  // namespace berth::e2e::webhooks_test
