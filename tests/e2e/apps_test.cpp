// Deployments and StatefulSets on `berth up`, as people use them with kubectl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/server.h"

namespace berth::e2e::apps_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kWeb = R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  replicas: 2
  serviceName: web
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "i:1"}]}
)";

TEST(Apps, ADeploymentIsCreatedScaledRolledOutAndRolledBack) {
  Server server({"--nodes", "2"});
  server.must({"create", "deployment", "a", "--image=i:1", "--replicas=2"});
  server.must({"rollout", "status", "deployment/a", "--timeout=60s"});
  server.must({"scale", "deployment/a", "--replicas=4"});
  server.must({"rollout", "status", "deployment/a", "--timeout=60s"});
  EXPECT_THAT(server.must({"get", "deploy", "a", "--no-headers"}), HasSubstr("4/4"));
  server.must({"set", "image", "deployment/a", "i=i:2"});
  server.must({"rollout", "status", "deployment/a", "--timeout=60s"});
  EXPECT_THAT(server.must({"get", "rs", "-o", "wide"}), AllOf(HasSubstr("DESIRED"), HasSubstr("i:2")));
  server.must({"rollout", "undo", "deployment/a"});
  server.must({"rollout", "status", "deployment/a", "--timeout=60s"});
  EXPECT_EQ(server.must({"get", "deploy", "a", "-o", "jsonpath={.spec.template.spec.containers[0].image}"}), "i:1");
  server.must({"delete", "deployment", "a", "--cascade=foreground", "--timeout=60s"});
  EXPECT_EQ(server.must({"get", "pods", "-o", "name"}), "");
  EXPECT_EQ(server.stop().exit_code, 0);
}

TEST(Apps, AStatefulSetIsCreatedScaledAndRolledOut) {
  Server server({"--nodes", "2"});
  server.must({"apply", "--validate=true", "-f", "-"}, kWeb);
  server.must({"rollout", "status", "statefulset/web", "--timeout=60s"});
  server.must({"scale", "sts", "web", "--replicas=3"});
  server.must({"rollout", "status", "statefulset/web", "--timeout=60s"});
  EXPECT_THAT(server.must({"get", "sts", "web", "--no-headers"}), HasSubstr("3/3"));
  server.must({"set", "image", "statefulset/web", "c=i:2"});
  server.must({"rollout", "status", "statefulset/web", "--timeout=60s"});
  EXPECT_EQ(server.must({"get", "pod", "web-0", "-o", "jsonpath={.spec.containers[0].image}"}), "i:2");
  EXPECT_THAT(server.must({"get", "controllerrevisions"}), HasSubstr("statefulset.apps/web"));
  EXPECT_THAT(server.must({"rollout", "history", "statefulset/web"}), AllOf(HasSubstr("1"), HasSubstr("2")));
  server.must({"delete", "statefulset", "web", "--timeout=60s"});
  EXPECT_EQ(server.stop().exit_code, 0);
}

}  // namespace
}  // namespace berth::e2e::apps_test
