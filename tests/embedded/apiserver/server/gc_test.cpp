// Owner references, propagation policies and namespace deletion.
#include <gtest/gtest.h>

#include <map>

#include "embedded/apiserver/server/harness.h"

namespace berth::apiserver::gc_test {
namespace {

constexpr std::string_view kThingCrd = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Cluster",
    "names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},
    "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
const api::GroupVersionResource kThings{"example.com", "v1", "things"};

class GcTest : public ServerTest {
 protected:
  std::string uid_of(const api::GroupVersionResource& gvr, std::string_view ns, std::string_view name) {
    return std::string(string_at(get(gvr, ns, name).body, {"metadata", "uid"}));
  }
  // The ownerReferences of a ConfigMap that another ConfigMap owns.
  std::string owned_by(std::string_view owner, bool blocks = false) {
    return R"(,"ownerReferences":[)" + reference(owner, blocks) + "]";
  }
  std::string reference(std::string_view owner, bool blocks = false) {
    return R"({"apiVersion":"v1","kind":"ConfigMap","name":")" + std::string(owner) + R"(","uid":")" +
           uid_of(kConfigMaps, "default", owner) + R"(","blockOwnerDeletion":)" + (blocks ? "true" : "false") + "}";
  }
  void make(std::string_view name, std::string_view extra = "") {
    const auto created = create(kConfigMaps, "default", config_map(name, extra));
    ASSERT_EQ(created.code, 201) << to_string(created.body);
  }
  bool there(std::string_view name) { return exists(kConfigMaps, "default", name); }
};

TEST_F(GcTest, BackgroundDeletionTakesDependentsAndTheirs) {
  make("a");
  make("b", owned_by("a"));
  make("c", owned_by("b"));
  make("d");
  ASSERT_EQ(remove(kConfigMaps, "default", "a").code, 200);
  EXPECT_FALSE(there("a") || there("b") || there("c"));
  EXPECT_TRUE(there("d"));
}

TEST_F(GcTest, OneOwnerIsEnoughToStay) {
  make("a");
  make("b");
  make("c", R"(,"ownerReferences":[)" + reference("a") + "," + reference("b") + "]");
  ASSERT_EQ(remove(kConfigMaps, "default", "a").code, 200);
  const auto left = get(kConfigMaps, "default", "c");
  ASSERT_TRUE(left.ok());
  EXPECT_EQ(array_at(left.body, {"metadata", "ownerReferences"}).size(), 1u);
  ASSERT_EQ(remove(kConfigMaps, "default", "b").code, 200);
  EXPECT_FALSE(there("c"));
}

TEST_F(GcTest, ForegroundDeletionWaitsForDependentsThatBlock) {
  make("a");
  make("b", R"(,"finalizers":["example.com/hold"])" + owned_by("a", true));
  make("c", owned_by("a", false));
  const auto answer = remove(kConfigMaps, "default", "a", R"({"propagationPolicy":"Foreground"})");
  EXPECT_EQ(to_string(*find_path(answer.body, {"metadata", "finalizers"})), R"(["foregroundDeletion"])");
  EXPECT_TRUE(there("a") && there("b"));
  ASSERT_EQ(patch(kConfigMaps, "default", "b", R"({"metadata":{"finalizers":null}})").code, 200);
  EXPECT_FALSE(there("a") || there("b") || there("c"));
}

TEST_F(GcTest, ForegroundDeletionGoesDownTheTree) {
  make("a");
  make("b", owned_by("a", true));
  make("c", R"(,"finalizers":["example.com/hold"])" + owned_by("b", true));
  ASSERT_EQ(remove(kConfigMaps, "default", "a", R"({"propagationPolicy":"Foreground"})").code, 200);
  EXPECT_TRUE(there("a") && there("b") && there("c"));
  ASSERT_EQ(patch(kConfigMaps, "default", "c", R"({"metadata":{"finalizers":null}})").code, 200);
  EXPECT_FALSE(there("a") || there("b") || there("c"));
}

TEST_F(GcTest, ObjectsThatOwnEachOtherDoNotWaitForEver) {
  make("a");
  make("b", owned_by("a", true));
  ASSERT_EQ(
      patch(kConfigMaps, "default", "a", R"({"metadata":{"ownerReferences":[)" + reference("b", true) + "]}}").code,
      200);
  ASSERT_EQ(remove(kConfigMaps, "default", "a", R"({"propagationPolicy":"Foreground"})").code, 200);
  EXPECT_FALSE(there("a") || there("b"));
}

TEST_F(GcTest, OrphansForgetTheirOwner) {
  make("a");
  make("b", owned_by("a"));
  ASSERT_EQ(remove(kConfigMaps, "default", "a", R"({"propagationPolicy":"Orphan"})").code, 200);
  EXPECT_FALSE(there("a"));
  const auto left = get(kConfigMaps, "default", "b");
  ASSERT_TRUE(left.ok());
  EXPECT_EQ(find_path(left.body, {"metadata", "ownerReferences"}), nullptr);
}

TEST_F(GcTest, OwnersThatNeverWereTakeTheirDependents) {
  make(
      "x",
      R"(,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"none","uid":"11111111-1111-4111-8111-111111111111"}])");
  EXPECT_FALSE(there("x"));
}

TEST_F(GcTest, AnOwnerOfAnotherUidIsNoOwner) {
  make("a");
  make(
      "x",
      R"(,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"11111111-1111-4111-8111-111111111111"}])");
  EXPECT_FALSE(there("x"));
}

TEST_F(GcTest, AnOwnerInAnotherNamespaceIsNoOwner) {
  ASSERT_EQ(create(kConfigMaps, "kube-system", config_map("a")).code, 201);
  make("x", R"(,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":")" +
                uid_of(kConfigMaps, "kube-system", "a") + R"("}])");
  EXPECT_FALSE(there("x"));
}

TEST_F(GcTest, AnOwnerOfAKindThatIsNotServedHereStandsForItself) {
  make("x", R"(,"ownerReferences":[{"apiVersion":"example.com/v1","kind":"Thing","name":"a","uid":"u"}])");
  EXPECT_TRUE(there("x"));
}

// The kind is not served any more when the collector looks at what its objects owned.
TEST_F(GcTest, AKindThatIsUninstalledTakesWhatItsObjectsOwned) {
  ASSERT_EQ(create(kCrds, "", kThingCrd).code, 201);
  ASSERT_EQ(create(kThings, "", R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"}})").code, 201);
  make("x", R"(,"ownerReferences":[{"apiVersion":"example.com/v1","kind":"Thing","name":"a","uid":")" +
                uid_of(kThings, "", "a") + R"("}])");
  ASSERT_EQ(remove(kCrds, "", "things.example.com").code, 200);
  EXPECT_EQ(server->registry().find(kThings), nullptr);
  EXPECT_FALSE(there("x"));
}

TEST_F(GcTest, AnOwnerThatDoesNotExistIsFoundOutWhenItsKindIsServed) {
  make("x", R"(,"ownerReferences":[{"apiVersion":"example.com/v1","kind":"Thing","name":"a","uid":"u"}])");
  ASSERT_EQ(create(kCrds, "", kThingCrd).code, 201);
  EXPECT_FALSE(there("x"));
}

TEST_F(GcTest, ClusterScopedObjectsOwnNamespacedOnes) {
  ASSERT_EQ(create(kNodes, "", R"({"metadata":{"name":"n"}})").code, 201);
  make("x", R"(,"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":")" + uid_of(kNodes, "", "n") +
                R"("}])");
  EXPECT_TRUE(there("x"));
  ASSERT_EQ(remove(kNodes, "", "n").code, 200);
  EXPECT_FALSE(there("x"));
}

TEST_F(GcTest, JobsLeaveTheirPodsBehindUnlessAsked) {
  const std::string job =
      R"({"metadata":{"name":"j"},"spec":{"suspend":true,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})";
  ASSERT_EQ(create(kJobs, "default", job).code, 201);
  const std::string owner = R"(,"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":")" +
                            uid_of(kJobs, "default", "j") + R"("}])";
  make("child", owner);
  const auto answer = remove(kJobs, "default", "j");
  ASSERT_EQ(answer.warnings.size(), 1u);
  EXPECT_NE(answer.warnings[0].find("child pods are preserved by default"), std::string::npos);
  EXPECT_FALSE(exists(kJobs, "default", "j"));
  EXPECT_TRUE(there("child"));
}

TEST_F(GcTest, ANamespaceTakesItsContentWithIt) {
  ASSERT_EQ(create(kNamespaces, "", R"({"metadata":{"name":"gone"}})").code, 201);
  ASSERT_EQ(create(kConfigMaps, "gone", config_map("a")).code, 201);
  ASSERT_EQ(create(kConfigMaps, "gone", config_map("b", R"(,"finalizers":["example.com/hold"])")).code, 201);
  const auto answer = remove(kNamespaces, "", "gone");
  EXPECT_EQ(string_at(answer.body, {"status", "phase"}), "Terminating");
  EXPECT_FALSE(exists(kConfigMaps, "gone", "a"));

  const auto refused = create(kConfigMaps, "gone", config_map("c"));
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(api::status_message(refused),
            "configmaps \"c\" is forbidden: unable to create new content in namespace gone because it is "
            "being terminated");

  const auto waiting = get(kNamespaces, "", "gone");
  ASSERT_TRUE(waiting.ok());
  std::string conditions;
  for (const Json& condition : array_at(waiting.body, {"status", "conditions"})) {
    if (string_at(condition, {"status"}) == "True") conditions += std::string(string_at(condition, {"message"})) + "; ";
  }
  EXPECT_EQ(conditions,
            "Some resources are remaining: configmaps. has 1 resource instances; "
            "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances; ");
  ASSERT_EQ(patch(kConfigMaps, "gone", "b", R"({"metadata":{"finalizers":null}})").code, 200);
  EXPECT_FALSE(exists(kNamespaces, "", "gone"));
}

TEST_F(GcTest, ANamespaceWithFinalizersOfOthersWaitsEmpty) {
  ASSERT_EQ(create(kNamespaces, "", R"({"metadata":{"name":"gone","finalizers":["example.com/hold"]}})").code, 201);
  ASSERT_EQ(remove(kNamespaces, "", "gone").code, 200);
  EXPECT_EQ(array_at(get(kNamespaces, "", "gone").body, {"spec", "finalizers"}).size(), 0u);
  ASSERT_EQ(patch(kNamespaces, "", "gone", R"({"metadata":{"finalizers":null}})").code, 200);
  EXPECT_FALSE(exists(kNamespaces, "", "gone"));
}

// More objects than the log accepts at once: the controllers wait and continue.
class CrowdTest : public ServerTest {
 protected:
  static constexpr int kCrowd = 5'000;
  void crowd(const api::GroupVersionResource& gvr, std::string_view ns, const std::string& before,
             const std::string& after) {
    int answered = 0;
    for (int i = 0; i < kCrowd; ++i) {
      server->call(request(api::Verb::kCreate, gvr, ns, "", before + std::to_string(i) + after),
                   [&](const api::RestResponse& answer) { answered += answer.code == 201; });
      if (i % 1'000 == 0) settle();
    }
    settle();
    ASSERT_EQ(answered, kCrowd);
  }
  void pass(Duration time) { executor.run_until(executor.now() + time); }
};

TEST_F(CrowdTest, WritesBeyondWhatTheDiskTakesAreRefusedForNow) {
  std::map<int, int> codes;
  for (int i = 0; i < kCrowd; ++i) {
    server->call(request(api::Verb::kCreate, kConfigMaps, "default", "", config_map("m" + std::to_string(i))),
                 [&](const api::RestResponse& answer) {
                   ++codes[answer.code];
                   if (answer.code == 429) {
                     EXPECT_EQ(api::status_reason(answer), "TooManyRequests");
                     EXPECT_EQ(int_at(answer.body, {"details", "retryAfterSeconds"}), 1);
                   }
                 });
  }
  settle();
  EXPECT_EQ(codes, (std::map<int, int>{{201, 4'096}, {429, kCrowd - 4'096}}));
  EXPECT_EQ(create(kConfigMaps, "default", config_map("later")).code, 201);
}

TEST_F(CrowdTest, ANamespaceFullOfObjectsGoes) {
  ASSERT_EQ(create(kNamespaces, "", R"({"metadata":{"name":"full"}})").code, 201);
  crowd(kConfigMaps, "full", R"({"metadata":{"name":"m)", R"("}})");
  ASSERT_EQ(remove(kNamespaces, "", "full").code, 200);
  pass(std::chrono::seconds(2));
  EXPECT_FALSE(exists(kNamespaces, "", "full"));
  EXPECT_EQ(array_at(list(kConfigMaps, "").body, {"items"}).size(), 0u);
}

TEST_F(CrowdTest, AnOwnerOfManyTakesThemWithIt) {
  const auto owner = create(kConfigMaps, "default", config_map("owner"));
  crowd(kConfigMaps, "default", R"({"metadata":{"name":"m)",
        R"(","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":")" +
            std::string(string_at(owner.body, {"metadata", "uid"})) + R"("}]}})");
  ASSERT_EQ(remove(kConfigMaps, "default", "owner").code, 200);
  pass(std::chrono::seconds(2));
  EXPECT_EQ(array_at(list(kConfigMaps, "default").body, {"items"}).size(), 0u);
}

TEST_F(CrowdTest, ADefinitionWithManyObjectsGoes) {
  ASSERT_EQ(create(kCrds, "", kThingCrd).code, 201);
  crowd(kThings, "", R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t)", R"("}})");
  ASSERT_EQ(remove(kCrds, "", "things.example.com").code, 200);
  pass(std::chrono::seconds(2));
  EXPECT_FALSE(exists(kCrds, "", "things.example.com"));
  EXPECT_EQ(server->registry().find(kThings), nullptr);
}

class BareServerTest : public ServerTest {
 protected:
  BareServerTest() : ServerTest({.seed = 7, .controllers = false}) {}
};

TEST_F(BareServerTest, LeavesTheWorkOfControllersToOthers) {
  ASSERT_EQ(create(kNamespaces, "", R"({"metadata":{"name":"gone"}})").code, 201);
  ASSERT_EQ(remove(kNamespaces, "", "gone").code, 200);
  EXPECT_EQ(string_at(get(kNamespaces, "", "gone").body, {"status", "phase"}), "Terminating");
  ASSERT_EQ(create(kConfigMaps, "default", config_map("a")).code, 201);
  ASSERT_EQ(remove(kConfigMaps, "default", "a", R"({"propagationPolicy":"Foreground"})").code, 200);
  EXPECT_TRUE(exists(kConfigMaps, "default", "a"));
}

}  // namespace
}  // namespace berth::apiserver::gc_test
