// The kinds of the group apps on a server: status, scale, owners.
#include <gtest/gtest.h>

#include "api/apps_resources.h"
#include "embedded/apiserver/server/harness.h"

namespace berth::apiserver::apps_test {
namespace {

using api::kReplicaSets;
using api::kStatefulSets;

constexpr std::string_view kSpec = R"("spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"},"matchExpressions":
    [{"key":"c","operator":"Exists"}]},"template":{"metadata":{"labels":{"a":"b","c":""}},"spec":{"containers":
    [{"name":"c","image":"i"}]}}}})";

using AppsTest = ServerTest;

TEST_F(AppsTest, AreScaledAndSayWhichPodsCount) {
  for (const auto& kind : {kReplicaSets, kStatefulSets}) {
    ASSERT_EQ(create(kind, "default", R"({"metadata":{"name":"s"},)" + std::string(kSpec)).code, 201);
    ASSERT_EQ(patch(kind, "default", "s", R"({"status":{"replicas":1}})", api::PatchType::kMerge, "status").code, 200);
    auto read = request(api::Verb::kGet, kind, "default", "s");
    read.subresource = "scale";
    const auto scale = call(read);
    EXPECT_EQ(to_string(*find(scale.body, "spec")), R"({"replicas":2})");
    EXPECT_EQ(to_string(*find(scale.body, "status")), R"({"replicas":1,"selector":"a=b,c"})");
    EXPECT_EQ(patch(kind, "default", "s", R"({"spec":{"replicas":5}})", api::PatchType::kMerge, "scale").code, 200);
    const auto object = get(kind, "default", "s").body;
    EXPECT_EQ(int_at(object, {"spec", "replicas"}), 5);
    EXPECT_EQ(int_at(object, {"metadata", "generation"}), 2);
    EXPECT_EQ(int_at(object, {"status", "replicas"}), 1);
  }
}

TEST_F(AppsTest, PodsAreDeletedWithTheirOwner) {
  const auto owner = create(kStatefulSets, "default", R"({"metadata":{"name":"s"},)" + std::string(kSpec)).body;
  const std::string uid(string_at(owner, {"metadata", "uid"}));
  ASSERT_EQ(create(kPods, "default",
                   R"({"metadata":{"name":"s-0","ownerReferences":[{"apiVersion":"apps/v1",
      "kind":"StatefulSet","name":"s","uid":")" +
                       uid + R"(","controller":true,"blockOwnerDeletion":true}]},
      "spec":{"containers":[{"name":"c","image":"i"}]}})")
                .code,
            201);
  ASSERT_EQ(remove(kStatefulSets, "default", "s").code, 200);
  executor.run_until(executor.now() + std::chrono::minutes(1));
  EXPECT_FALSE(exists(kStatefulSets, "default", "s"));
  EXPECT_FALSE(exists(kPods, "default", "s-0"));
}

}  // namespace
}  // namespace berth::apiserver::apps_test
