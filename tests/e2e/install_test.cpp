// The plain manifests in a cluster: kubectl applies them and sees nothing to change afterwards, and a
// controller that has their roles and no more does its work.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "e2e/server.h"

namespace berth::e2e {
namespace {

const std::string kManifests = std::string(BERTH_SOURCE_DIR) + "/config/install/berth.yaml";

// The validation is the server's and strict with every kubectl that knows it.
const std::vector<std::string> kApply = {"apply", "--validate=true", "-f", kManifests};
const std::vector<std::string> kServerSide = {
    "apply", "--server-side", "--force-conflicts", "--validate=true", "-f", kManifests};

TEST(Install, TheManifestsApplyAndLeaveNoDifference) {
  Server server({"--nodes", "none"});
  server.must(kApply);
  const Finished after = server.kubectl({"diff", "-f", kManifests});
  EXPECT_EQ(after.exit_code, 0) << after.out << after.err;
  server.must(kServerSide);
  const Finished again = server.kubectl({"diff", "--server-side", "--force-conflicts", "-f", kManifests});
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_EQ(server.must({"get", "deployment", "berth-controller-manager", "-n", "kueue-system", "-o",
                         "jsonpath={.spec.template.spec.containers[0].image}"}),
            "berth:0.1.0");
  EXPECT_EQ(server.stop().exit_code, 0);
}

constexpr const char* kWork = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: all}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: default, resources: [{name: cpu, nominalQuota: 2}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: mine, namespace: default}
spec: {clusterQueue: all}
---
apiVersion: batch/v1
kind: Job
metadata: {name: work, namespace: default, labels: {kueue.x-k8s.io/queue-name: mine}}
spec:
  suspend: true
  template:
    metadata: {annotations: {berth.dev/run-for: 1s}}
    spec:
      restartPolicy: Never
      containers: [{name: c, image: none, resources: {requests: {cpu: 1}}}]
)";

// The controller's kubeconfig: the server's, with the token of the account.
std::string kubeconfig_of_account(Server& server) {
  const std::string path = server.dir() + "/account.kubeconfig";
  std::filesystem::copy_file(server.kubeconfig(), path);
  server.must({"config", "--kubeconfig", path, "set-credentials", "account", "--token=t0ken"});
  server.must({"config", "--kubeconfig", path, "set-context", "--current", "--user=account"});
  return path;
}

TEST(Install, TheRolesAreEnoughForTheController) {
  const auto tokens = std::filesystem::temp_directory_path() / ("berth_tokens_" + std::to_string(::getpid()));
  {
    std::FILE* out = std::fopen(tokens.c_str(), "w");
    std::fputs(
        "t0ken,system:serviceaccount:kueue-system:kueue-controller-manager,1,\"system:serviceaccounts\"\n",
        out);
    std::fclose(out);
  }
  Server server({"--nodes", "1x1x2", "--controller=false", "--token-file", tokens});
  server.must(kServerSide);
  const std::string kubeconfig = kubeconfig_of_account(server);
  EXPECT_NE(server.kubectl({"--kubeconfig", kubeconfig, "get", "secrets", "-A"}).exit_code, 0)
      << "it reads no Secrets";
  Process controller({BERTH_PROGRAM, "controller", "--kubeconfig", kubeconfig}, server.environment());
  ASSERT_TRUE(controller.wait_for_output("leading\n")) << controller.err();
  server.must({"apply", "-f", "-"}, kWork);
  server.must({"wait", "--for=condition=complete", "--timeout=100s", "job/work"});
  controller.signal(SIGTERM);
  const Finished finished = controller.wait();
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.err.find("forbidden"), std::string::npos) << finished.err;
  EXPECT_EQ(server.stop().exit_code, 0);
  std::filesystem::remove(tokens);
}

}  // namespace
}  // namespace berth::e2e
