// Who waits in a queue, asked with kubectl as people and Kueue's tools ask.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "e2e/server.h"

namespace berth::e2e {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A queue that admits nobody.
constexpr const char* kHeldQueue = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: held}
spec:
  stopPolicy: Hold
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: default
      resources: [{name: cpu, nominalQuota: 2}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: red, namespace: default}
spec: {clusterQueue: held}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: blue, namespace: default}
spec: {clusterQueue: held}
)";

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
std::string told(const Server& server, const std::string& path) {
  const Json summary = parse_json(server.must({"get", "--raw", kGroup + path})).value();
  EXPECT_EQ(string_at(summary, {"kind"}), "PendingWorkloadsSummary");
  std::string all;
  for (const Json& item : array_at(summary, {"items"})) {
    all += (all.empty() ? "" : ", ") + std::string(string_at(item, {"metadata", "name"})) + " " +
           std::to_string(int_at(item, {"positionInClusterQueue"}, -1)) + "/" +
           std::to_string(int_at(item, {"positionInLocalQueue"}, -1));
  }
  return all;
}

TEST(Visibility, PositionsAreToldToKubectl) {
  Server server;
  server.must({"apply", "-f", "-"}, kHeldQueue);
  server.must({"apply", "-f", "-"}, workload("third", "blue", 1) + workload("first", "red", 3) + workload("second", "blue", 2));
  server.must({"wait", "--for=jsonpath={.status.pendingWorkloads}=3", "--timeout=100s", "clusterqueue/held"});

  EXPECT_EQ(told(server, "v1beta2/clusterqueues/held/pendingworkloads?limit=2"), "first 0/0, second 1/0");
  EXPECT_EQ(told(server, "v1beta1/clusterqueues/held/pendingworkloads?offset=1"), "second 1/0, third 2/1");
  EXPECT_EQ(told(server, "v1beta1/namespaces/default/localqueues/blue/pendingworkloads"), "second 1/0, third 2/1");
  EXPECT_EQ(told(server, "v1beta2/namespaces/default/localqueues/red/pendingworkloads"), "first 0/0");

  const auto refusal = [&](const std::string& path) {
    const Finished asked = server.kubectl({"get", "--raw", kGroup + path});
    EXPECT_NE(asked.exit_code, 0) << path;
    return asked.err;
  };
  EXPECT_TRUE(has(refusal("v1beta2/clusterqueues/other/pendingworkloads"), "not found"));
  EXPECT_TRUE(has(refusal("v1beta2/clusterqueues/held/pendingworkloads?limit=all"), "limit=\"all\""));
  EXPECT_TRUE(has(refusal("v1beta2/clusterqueues"), "could not find"));
}

// The group is there, and what kubectl makes of discovery and OpenAPI is as without it.
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

}  // namespace
}  // namespace berth::e2e
