// A user with rights in one namespace tries a job there, and learns nothing about who works in others.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "e2e/manifests.h"
#include "e2e/server.h"

namespace berth::e2e::dry_run_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string job(const std::string& ns, const std::string& name, const std::string& cpu) {
  return "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: " + name + ", namespace: " + ns +
         ", labels: {kueue.x-k8s.io/queue-name: q}}, spec: {suspend: true, template: {metadata: {annotations: "
         "{berth.dev/run-for: 1h}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: "
         "{requests: {cpu: \"" +
         cpu + "\"}}}]}}}}\n";
}

// What the chart gives to batch users, as a role of the namespace.
const std::string kRights = R"(---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: user, namespace: red}, rules: [
  {apiGroups: [batch], resources: [jobs], verbs: [create, get, list, patch]},
  {apiGroups: [kueue.x-k8s.io], resources: [localqueues, workloads], verbs: [get, list]},
  {apiGroups: [visibility.kueue.x-k8s.io], resources: [workloads/explanation, workloads/prediction], verbs: [get]},
  {apiGroups: [visibility.kueue.x-k8s.io], resources: [localwhatifs], verbs: [create]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: user, namespace: red},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: user},
 subjects: [{kind: User, name: rita, apiGroup: rbac.authorization.k8s.io}]}
)";

TEST(DryRun, WithRightsInOneNamespaceOnly) {
  const std::string tokens = testing::TempDir() + "berth_e2e_dry_run_tokens";
  FILE* file = std::fopen(tokens.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("rita-token,rita,u1\nnobody-token,nobody,u2\n", file);
  std::fclose(file);
  Server server({"--nodes", "1x1x2", "--token-file", tokens});
  server.must({"create", "namespace", "red"});
  server.must({"create", "namespace", "blue"});
  server.must({"apply", "-f", "-"}, kDefaultFlavor + cluster_queue("shared", 4));
  for (const std::string ns : {"red", "blue"})
    server.must({"apply", "-f", "-"},
                "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, "
                "namespace: " +
                    ns + "}, spec: {clusterQueue: shared}}\n");
  server.must({"create", "-f", "-"}, job("blue", "hidden-train", "3"));
  server.must({"apply", "-f", "-"}, kRights);
  const auto berth = [&](const std::string& user, std::vector<std::string> words, const std::string& input = "") {
    const std::string config = server.write_file(
        user, "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: \"" +
                  server.url() + "\", insecure-skip-tls-verify: true}}]\nusers: [{name: u, user: {token: " + user +
                  "-token}}]\ncontexts: [{name: c, context: {cluster: c, user: u, namespace: red}}]\n");
    words.insert(words.begin(), BERTH_PROGRAM);
    words.insert(words.end(), {"--kubeconfig", config});
    return run(words, server.environment(), input);
  };
  ASSERT_TRUE(eventually([&] {
    return has(server.must({"get", "workloads", "-n", "blue", "-o", "jsonpath={.items[*].status.conditions[*].type}"}),
               "Admitted");
  }));
  const std::string small = server.write_file("small.yaml", job("red", "small", "1"));
  const std::string large = server.write_file("large.yaml", job("red", "large", "3"));
  const Finished starts = berth("rita", {"submit", "--dry-run", "-f", small});
  EXPECT_EQ(starts.exit_code, 0) << starts.err;
  EXPECT_TRUE(has(starts.out, "jobs.batch/small in LocalQueue red/q starts now: main 1 x default")) << starts.out;
  for (const char* output : {"", "json"}) {
    std::vector<std::string> words{"submit", "--dry-run", "-f", large};
    if (*output != 0) words.insert(words.end(), {"-o", output});
    const Finished waits = berth("rita", words);
    EXPECT_EQ(waits.exit_code, 0) << waits.err;
    EXPECT_TRUE(has(waits.out, "jobs.batch/large")) << waits.out;
    EXPECT_TRUE(has(waits.out, "nother namespace")) << "somebody's workload is in the way: " << waits.out;
    EXPECT_FALSE(has(waits.out, "hidden")) << waits.out;
    EXPECT_FALSE(has(waits.out, "blue")) << waits.out;
  }
  // Not for another namespace, not without the right, and not about the cluster.
  const std::string theirs = server.write_file("theirs.yaml", job("blue", "mine", "1"));
  EXPECT_NE(berth("rita", {"submit", "--dry-run", "-f", theirs}).exit_code, 0);
  const Finished refused = berth("nobody", {"submit", "--dry-run", "-f", small});
  EXPECT_NE(refused.exit_code, 0);
  const Finished cluster = berth("rita", {"what-if", "--without", "clusterqueue/shared"});
  EXPECT_NE(cluster.exit_code, 0);
  EXPECT_TRUE(has(cluster.err, "whatifs")) << cluster.err;

  // What waits says in its explanation when it is expected to start.
  server.must({"create", "-f", "-"}, job("red", "large", "3"));
  const auto explained = [&] { return berth("rita", {"explain", "job", "large"}); };
  ASSERT_TRUE(eventually([&] { return has(explained().out, "When it is expected to start:"); })) << explained().err;
  EXPECT_FALSE(has(explained().out, "hidden")) << explained().out;
  std::remove(tokens.c_str());
}

}  // namespace
}  // namespace berth::e2e::dry_run_test
