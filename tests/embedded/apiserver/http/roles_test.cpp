// What roles and bindings allow users to do.
#include "embedded/apiserver/http/roles.h"

#include <gtest/gtest.h>

#include "embedded/apiserver/builtin/support.h"

namespace berth::apiserver::http::roles_test {
namespace {

const api::User kBob{"bob", {"team-a", "system:authenticated"}};

Action on(std::string verb, std::string resource, std::string ns = "", std::string name = "",
          std::string subresource = "") {
  return {std::move(verb), {"", "v1", std::move(resource)}, std::move(subresource), std::move(ns), std::move(name), ""};
}

class GrantedRoles : public testing::Test {
 protected:
  void bind_cluster_role(std::string_view subject) {
    world_.add("clusterrolebindings",
               R"({"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"r"},"subjects":[)" +
                   std::string(subject) + "]}");
  }
  void cluster_role(std::string_view name, std::string_view rules, std::string_view labels = "{}") {
    world_.add("clusterroles", R"({"metadata":{"name":")" + std::string(name) + R"(","labels":)" + std::string(labels) +
                                   R"(},"rules":[)" + std::string(rules) + "]}");
  }
  bool bob_may(const Action& action) { return may(kBob, action, world_.lookup()); }

  World world_;
};

constexpr std::string_view kReadPods = R"({"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]})";

TEST_F(GrantedRoles, HoldForUsersGroupsAndServiceAccounts) {
  cluster_role("r", kReadPods);
  EXPECT_FALSE(bob_may(on("get", "pods", "x", "a"))) << "not bound";
  bind_cluster_role(R"({"kind":"User","name":"ann"},{"kind":"Group","name":"team-a"},
                        {"kind":"ServiceAccount","namespace":"n","name":"s"})");
  EXPECT_TRUE(bob_may(on("get", "pods", "x", "a")));
  EXPECT_TRUE(bob_may(on("list", "pods")));
  EXPECT_FALSE(bob_may(on("watch", "pods")));
  EXPECT_FALSE(bob_may(on("get", "pods", "x", "a", "status"))) << "a subresource is another resource";
  EXPECT_TRUE(may({"system:serviceaccount:n:s", {}}, on("list", "pods"), world_.lookup()));
  EXPECT_FALSE(may({"system:serviceaccount:m:s", {}}, on("list", "pods"), world_.lookup()));
}

TEST_F(GrantedRoles, OfANamespaceHoldThere) {
  world_.add("roles", R"({"metadata":{"name":"r","namespace":"x"},"rules":[)" + std::string(kReadPods) + "]}");
  world_.add("rolebindings", R"({"metadata":{"name":"b","namespace":"x"},"roleRef":{"kind":"Role","name":"r"},
      "subjects":[{"kind":"User","name":"bob"}]})");
  EXPECT_TRUE(bob_may(on("list", "pods", "x")));
  EXPECT_FALSE(bob_may(on("list", "pods", "y")));
  EXPECT_FALSE(bob_may(on("list", "pods"))) << "all namespaces";
}

TEST_F(GrantedRoles, MayNameObjectsSubresourcesAndPaths) {
  cluster_role("r", R"({"verbs":["get"],"apiGroups":["*"],"resources":["secrets"],"resourceNames":["one"]},
      {"verbs":["*"],"apiGroups":[""],"resources":["*/status"]},
      {"verbs":["get"],"nonResourceURLs":["/metrics","/debug/*"]})");
  bind_cluster_role(R"({"kind":"User","name":"bob"})");
  EXPECT_TRUE(bob_may(on("get", "secrets", "x", "one")));
  EXPECT_FALSE(bob_may(on("get", "secrets", "x", "two")));
  EXPECT_FALSE(bob_may(on("get", "secrets", "x"))) << "no name is no name of the list";
  EXPECT_TRUE(bob_may(on("patch", "pods", "x", "a", "status")));
  Action path;
  path.verb = "get";
  for (const char* allowed : {"/metrics", "/debug/pprof"}) {
    path.path = allowed;
    EXPECT_TRUE(bob_may(path)) << allowed;
  }
  path.path = "/metrics/more";
  EXPECT_FALSE(bob_may(path));
}

TEST_F(GrantedRoles, MayNameNoObject) {
  cluster_role("r", R"({"verbs":["list"],"apiGroups":[""],"resources":["pods"],"resourceNames":[""]},
      {"verbs":["get"],"nonResourceURLs":["/logs/**"]})");
  bind_cluster_role(R"({"kind":"User","name":"bob"})");
  EXPECT_TRUE(bob_may(on("list", "pods"))) << "the name of a list is empty";
  EXPECT_FALSE(bob_may(on("list", "pods", "", "a")));
  EXPECT_TRUE(bob_may({"get", {}, "", "", "", "/logs/a"})) << "all stars at the end are one";
}

TEST(ServerRules, FollowFromTheGroups) {
  const auto may_see = [](std::vector<std::string> groups, std::string verb, std::string path) {
    return may({"bob", std::move(groups)}, {std::move(verb), {}, "", "", "", std::move(path)}, {});
  };
  for (const char* group : {"system:authenticated", "system:unauthenticated"}) {
    EXPECT_TRUE(may_see({group}, "get", "/version/")) << group;
    EXPECT_FALSE(may_see({group}, "get", "/healthz/")) << group;
    EXPECT_FALSE(may_see({group}, "head", "/healthz")) << "the rule has the verb get only";
  }
  EXPECT_TRUE(may_see({"system:authenticated"}, "get", "/apis/apps/v1"));
  EXPECT_FALSE(may_see({"system:unauthenticated"}, "get", "/apis"));
  EXPECT_FALSE(may_see({}, "get", "/healthz")) << "a user of neither group, in a review";
  Action review = on("create", "selfsubjectaccessreviews");
  review.resource.group = "authorization.k8s.io";
  EXPECT_TRUE(may(kBob, review, {}));
  review.subresource = "status";
  EXPECT_FALSE(may(kBob, review, {}));
}

TEST_F(GrantedRoles, MayBeSumsOfOthers) {
  world_.add("clusterroles", R"({"metadata":{"name":"r","labels":{"sum":"1"}},"aggregationRule":
      {"clusterRoleSelectors":[{"matchLabels":{"sum":"1"}}]}})");
  bind_cluster_role(R"({"kind":"User","name":"bob"})");
  EXPECT_FALSE(bob_may(on("get", "pods", "x", "a"))) << "and a sum of itself comes to an end";
  cluster_role("part", kReadPods, R"({"sum":"1"})");
  cluster_role("other", R"({"verbs":["*"],"apiGroups":["*"],"resources":["*"]})", R"({"sum":"2"})");
  EXPECT_TRUE(bob_may(on("get", "pods", "x", "a")));
  EXPECT_FALSE(bob_may(on("get", "secrets", "x", "a")));
}

TEST_F(GrantedRoles, AreNotWrittenByThoseWhoHaveThem) {
  cluster_role("r", R"({"verbs":["*"],"apiGroups":["*"],"resources":["*"]})");
  bind_cluster_role(R"({"kind":"User","name":"bob"})");
  Action action = on("get", "clusterroles", "", "r");
  action.resource.group = "rbac.authorization.k8s.io";
  EXPECT_TRUE(bob_may(action));
  action.verb = "update";
  EXPECT_FALSE(bob_may(action));
  EXPECT_TRUE(may({"root", {"system:masters"}}, action, world_.lookup()));
}

TEST(NameSelected, IsTheOneThatAFieldSelectorAsksFor) {
  EXPECT_EQ(name_selected("metadata.name=a"), "a");
  EXPECT_EQ(name_selected("spec.nodeName=n,metadata.name=a"), "a");
  EXPECT_EQ(name_selected("metadata.name!=a"), "");
  EXPECT_EQ(name_selected("metadata.name=a/b"), "");
  EXPECT_EQ(name_selected(""), "");
  EXPECT_EQ(name_selected("=="), "");
}

TEST(NoRoles, LeaveTheServersOwnRules) {
  EXPECT_FALSE(may(kBob, on("list", "pods"), {}));
  EXPECT_TRUE(may({"root", {"system:masters"}}, on("list", "pods"), {}));
  EXPECT_TRUE(rules_of(kBob, "x", {}).empty());
}

}  // namespace
}  // namespace berth::apiserver::http::roles_test
