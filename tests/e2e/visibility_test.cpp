// Pending workloads of a queue, requested with kubectl as users and Kueue's tools do.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "e2e/controller.h"
#include "e2e/manifests.h"
#include "e2e/server.h"

namespace berth::e2e::visibility_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A queue that admits no workload.
const std::string kHeldQueue = kDefaultFlavor + cluster_queue("held", 2, "stopPolicy: Hold") +
                               local_queue("red", "held") + local_queue("blue", "held");

std::string workload(const std::string& name, const std::string& queue, int priority) {
  return "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: " + name +
         ", namespace: default}\nspec:\n  queueName: " + queue + "\n  priority: " + std::to_string(priority) + R"(
  podSets:
  - name: main
    count: 1
    template:
      spec:
        restartPolicy: Never
        containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]
)";
}

const std::string kGroup = "/apis/visibility.kueue.x-k8s.io/";

// "name position-in-cluster-queue/position-in-local-queue, ..."
std::string reported(const std::string& answer) {
  const Json summary = parse_json(answer).value_or(Json());
  EXPECT_EQ(string_at(summary, {"kind"}), "PendingWorkloadsSummary");
  std::string all;
  for (const Json& item : array_at(summary, {"items"})) {
    all += (all.empty() ? "" : ", ") + std::string(string_at(item, {"metadata", "name"})) + " " +
           std::to_string(int_at(item, {"positionInClusterQueue"}, -1)) + "/" +
           std::to_string(int_at(item, {"positionInLocalQueue"}, -1));
  }
  return all;
}

void three_wait(const Cluster& server) {
  server.must({"apply", "-f", "-"}, kHeldQueue);
  server.must({"apply", "-f", "-"},
              workload("third", "blue", 1) + workload("first", "red", 3) + workload("second", "blue", 2));
  EXPECT_TRUE(eventually([&] {
    return server.must({"get", "clusterqueue", "held", "-o", "jsonpath={.status.pendingWorkloads}"}) == "3";
  }));
}

class PendingWorkloads : public OnBoth {};

INSTANTIATE_TEST_SUITE_P(Clusters, PendingWorkloads, both(), name_of);

TEST_P(PendingWorkloads, AreInformedToKubectlWithTheirPositions) {
  const auto cluster = make_cluster(GetParam(), "1x1x2");
  const Cluster& server = *cluster;
  three_wait(server);
  for (const char* version : {"v1beta1", "v1beta2"}) {
    EXPECT_TRUE(eventually([&] { return server.kubectl({"get", "--raw", kGroup + version}).exit_code == 0; }))
        << version;
  }
  const auto ask = [&](const std::string& path) { return reported(server.must({"get", "--raw", kGroup + path})); };
  EXPECT_EQ(ask("v1beta2/clusterqueues/held/pendingworkloads?limit=2"), "first 0/0, second 1/0");
  EXPECT_EQ(ask("v1beta1/clusterqueues/held/pendingworkloads?offset=1"), "second 1/0, third 2/1");
  EXPECT_EQ(ask("v1beta1/namespaces/default/localqueues/blue/pendingworkloads"), "second 1/0, third 2/1");
  EXPECT_EQ(ask("v1beta2/namespaces/default/localqueues/red/pendingworkloads"), "first 0/0");

  const auto refusal = [&](const std::string& path) {
    const Finished asked = server.kubectl({"get", "--raw", kGroup + path});
    EXPECT_NE(asked.exit_code, 0) << path;
    return asked.err;
  };
  EXPECT_TRUE(has(refusal("v1beta2/clusterqueues/other/pendingworkloads"), "not found"));
  EXPECT_TRUE(has(refusal("v1beta2/clusterqueues/held/pendingworkloads?limit=all"), "limit=\"all\""));
  EXPECT_TRUE(has(refusal("v1beta2/clusterqueues"), "could not find"));
}

// The group is discovered, and it does not disturb kubectl's discovery and OpenAPI.
TEST(Visibility, TheGroupIsDiscovered) {
  Server server;
  const std::string versions = server.must({"api-versions"});
  EXPECT_TRUE(has(versions, "visibility.kueue.x-k8s.io/v1beta1\nvisibility.kueue.x-k8s.io/v1beta2\n")) << versions;
  const std::string resources = server.must({"api-resources", "--no-headers"});
  EXPECT_FALSE(has(resources, "PendingWorkloadsSummary")) << resources;
  EXPECT_TRUE(has(resources, "kueue.x-k8s.io/v1beta2")) << resources;
  EXPECT_EQ(server.must({"get", "clusterqueues", "-o", "name"}), "");
  EXPECT_TRUE(has(server.must({"explain", "clusterqueue.spec.cohortName"}), "cohort"));
  EXPECT_TRUE(has(server.must({"get", "--raw", "/openapi/v3"}), "apis/visibility.kueue.x-k8s.io/v1beta2"));
  server.must({"apply", "-f", "-"}, kHeldQueue);
}

// A controller process, and kubectl configured for the visibility API of that process.
class Replica {
 public:
  explicit Replica(const Server& server) : server_(server) {
    static int number = 0;
    const std::string configuration = controller_configuration(), before = "bindPort: ";
    port_ = std::stoi(configuration.substr(configuration.find(before) + before.size()));
    name_ = "replica-" + std::to_string(++number);
    const std::string file = server.write_file(name_ + ".yaml", configuration);
    process_ = std::make_unique<Process>(
        std::vector<std::string>{BERTH_PROGRAM, "controller", "--kubeconfig", server.kubeconfig(), "--config", file,
                                 "--log-level", "error"},
        server.environment());
  }
  Process& process() { return *process_; }

  Finished ask(const std::string& token, const std::string& path) const {
    const std::string kubeconfig = server_.write_file(name_ + "-" + token,
                                                      "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
                                                      "clusters: [{name: c, cluster: {server: \"https://127.0.0.1:" +
                                                          std::to_string(port_) +
                                                          "\", insecure-skip-tls-verify: true}}]\n"
                                                          "users: [{name: u, user: {token: " +
                                                          token +
                                                          "}}]\n"
                                                          "contexts: [{name: here, context: {cluster: c, user: u}}]\n");
    return run({"kubectl", "--kubeconfig", kubeconfig, "get", "--raw", path}, server_.environment());
  }

 private:
  const Server& server_;
  int port_ = 0;
  std::string name_;
  std::unique_ptr<Process> process_;
};

TEST(Visibility, IsNotThereWhereNobodyDecides) {
  Server server({"--controller=false", "--nodes", "none"});
  const Finished page =
      server.kubectl({"get", "--raw", "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/held/pendingworkloads"});
  EXPECT_NE(page.exit_code, 0);
  EXPECT_TRUE(has(page.err, "could not find the requested resource") || has(page.err, "NotFound")) << page.err;
  EXPECT_FALSE(has(server.must({"api-versions"}), "visibility.kueue.x-k8s.io"));
}

TEST(Visibility, IsNotThereWhenItsGateIsOff) {
  Server server({"--nodes", "none", "--feature-gates", "VisibilityOnDemand=false"});
  EXPECT_FALSE(has(server.must({"api-versions"}), "visibility.kueue.x-k8s.io"));
  server.must({"apply", "-f", "-"}, kHeldQueue);
  server.must({"apply", "-f", "-"}, workload("first", "red", 3));
  const Finished listed = run({BERTH_PROGRAM, "list", "wl"}, server.environment());
  EXPECT_EQ(listed.exit_code, 0);
  EXPECT_TRUE(has(listed.out, "first") && has(listed.err, "positions are not known")) << listed.out << listed.err;
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{BERTH_PROGRAM, "explain", "workload", "first", "-n", "red"},
        std::vector<std::string>{BERTH_PROGRAM, "explain", "clusterqueue", "held"},
        std::vector<std::string>{BERTH_PROGRAM, "what-if", "--without", "clusterqueue/held"}}) {
    const Finished asked = run(command, server.environment());
    EXPECT_NE(asked.exit_code, 0);
    EXPECT_TRUE(has(asked.err, "the feature gate VisibilityOnDemand of Berth is off")) << asked.out << asked.err;
  }
}

// The leader and a follower answer the same, to users who have the permission.
TEST(Visibility, EveryReplicaTellsThoseWhoMayAsk) {
  const std::string tokens = testing::TempDir() + "berth_e2e_visibility_tokens_" + std::to_string(::getpid());
  FILE* out = std::fopen(tokens.c_str(), "w");
  ASSERT_NE(out, nullptr);
  std::fputs("weak,somebody,u1\nstrong,admin,u2,\"system:masters\"\n", out);
  std::fclose(out);
  Server server({"--controller=false", "--nodes", "none", "--token-file", tokens});
  server.must({"create", "namespace", "kueue-system"});
  Replica leader(server);
  ASSERT_TRUE(leader.process().wait_for_output("leading\n")) << leader.process().err();
  three_wait(server);
  Replica follower(server);
  ASSERT_TRUE(follower.process().wait_for_output("ready\n")) << follower.process().err();

  const std::string path = kGroup + "v1beta2/clusterqueues/held/pendingworkloads";
  for (const Replica* replica : {&leader, &follower}) {
    const Finished asked = replica->ask("strong", path);
    EXPECT_EQ(reported(asked.out), "first 0/0, second 1/0, third 2/1") << asked.err;
    EXPECT_TRUE(has(replica->ask("weak", path).err, "cannot get resource")) << replica->ask("weak", path).err;
    EXPECT_TRUE(has(replica->ask("unknown", path).err, "Unauthorized")) << replica->ask("unknown", path).err;
    EXPECT_TRUE(has(replica->ask("strong", kGroup + "v1beta1").out, "localqueues/pendingworkloads"));
    EXPECT_EQ(replica->ask("weak", "/readyz").out, "ok");
  }
  EXPECT_FALSE(follower.process().has_said("leading\n"));
  ::unlink(tokens.c_str());
}

}  // namespace
}  // namespace berth::e2e::visibility_test
