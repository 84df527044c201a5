// What a user with roles may ask for: the verb, the name and the path that decide.
#include <gtest/gtest.h>

#include "embedded/apiserver/builtin/support.h"
#include "embedded/apiserver/http_fake.h"

namespace berth::apiserver::http::requested_action_test {
namespace {

class RequestedAction : public testing::Test {
 protected:
  RequestedAction() {
    RouterOptions options;
    options.seed = 1;
    options.tokens.add("t0ken", authenticated("bob", "u1", {"team-a"}));
    options.objects = roles_.lookup();
    router_ = std::make_unique<Router>(core_, registry_, executor_, std::move(options));
    core_.next = {200, parse_json(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}})").value(), {}};
  }

  HttpRequest asked(std::string method, std::string target, std::string body = "",
                    std::string type = "application/json") {
    HttpRequest r;
    r.method = std::move(method);
    r.target = std::move(target);
    r.body = std::move(body);
    if (!r.body.empty()) r.headers.push_back({"Content-Type", std::move(type)});
    return r;
  }
  HttpRequest as_admin(std::string method, std::string target) {
    HttpRequest r = asked(std::move(method), std::move(target));
    r.peer = {"admin", {"system:masters"}};
    return r;
  }
  HttpRequest as_bob(std::string method, std::string target, std::string body = "",
                     std::string type = "application/json") {
    HttpRequest r = asked(std::move(method), std::move(target), std::move(body), std::move(type));
    r.headers.push_back({"Authorization", "Bearer t0ken"});
    return r;
  }
  void bob_gets(std::string_view rules) {
    roles_.add("clusterroles", R"({"metadata":{"name":"r"},"rules":[)" + std::string(rules) + "]}");
    roles_.add("clusterrolebindings", R"({"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"r"},
        "subjects":[{"kind":"User","name":"bob"}]})");
  }

  HttpResponse send(HttpRequest request) {
    auto sink = std::make_shared<KeepingSink>();
    const auto exchange = router_->handle(std::move(request), sink);
    executor_.run_ready(100);
    EXPECT_TRUE(sink->answered);
    return sink->response;
  }
  static std::string message(const HttpResponse& r) {
    return std::string(string_at(parse_json(r.body).value_or(Json()), {"message"}));
  }

  World roles_;
  VirtualExecutor executor_{parse_time("2026-01-01T00:00:00Z").value()};
  FakeCore core_{executor_};
  Registry registry_ = small_registry();
  std::unique_ptr<Router> router_;
};

// The name in a field selector limits what a list or a watch returns, and nothing else.
TEST_F(RequestedAction, TakesANameFromAFieldSelectorForListsAndWatchesOnly) {
  bob_gets(R"({"verbs":["*"],"apiGroups":[""],"resources":["configmaps"],"resourceNames":["a"]})");
  const std::string all = "/api/v1/namespaces/x/configmaps", only = all + "?fieldSelector=metadata.name%3Da";
  const std::string body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"other"}})";
  EXPECT_EQ(send(as_bob("GET", only)).status, 200);
  EXPECT_EQ(send(as_bob("GET", all)).status, 403);
  EXPECT_EQ(send(as_bob("GET", all + "?fieldSelector=metadata.name%3Db")).status, 403);
  EXPECT_EQ(send(as_bob("POST", only, body)).status, 403);
  EXPECT_EQ(send(as_bob("DELETE", only)).status, 403) << "a rule with names allows no deletecollection";
  EXPECT_EQ(core_.requests.size(), 1u);
}

TEST_F(RequestedAction, ApplyingWhatDoesNotExistNeedsCreate) {
  bob_gets(R"({"verbs":["patch"],"apiGroups":[""],"resources":["configmaps"]})");
  roles_.add("configmaps", R"({"metadata":{"name":"there","namespace":"x"}})");
  const auto apply = [&](const std::string& name, const std::string& type) {
    return send(as_bob("PATCH", "/api/v1/namespaces/x/configmaps/" + name + "?fieldManager=m",
                       R"({"apiVersion":"v1","kind":"ConfigMap"})", type));
  };
  EXPECT_EQ(apply("there", "application/apply-patch+yaml").status, 200);
  const HttpResponse refused = apply("new", "application/apply-patch+yaml");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(message(refused),
            "configmaps \"new\" is forbidden: User \"bob\" cannot create resource \"configmaps\" in API group \"\" in "
            "the namespace \"x\"");
  EXPECT_EQ(apply("new", "application/merge-patch+json").status, 200) << "the core says that it does not exist";
}

TEST_F(RequestedAction, RolesInANamespaceMayAllowTheNamespaceItself) {
  roles_.add("roles", R"({"metadata":{"name":"r","namespace":"x"},
      "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["namespaces"]}]})");
  roles_.add("rolebindings", R"({"metadata":{"name":"b","namespace":"x"},"roleRef":{"kind":"Role","name":"r"},
      "subjects":[{"kind":"User","name":"bob"}]})");
  EXPECT_EQ(send(as_bob("GET", "/api/v1/namespaces/x")).status, 200);
  EXPECT_EQ(message(send(as_bob("GET", "/api/v1/namespaces/y"))),
            "namespaces \"y\" is forbidden: User \"bob\" cannot get resource \"namespaces\" in API group \"\" in the "
            "namespace \"y\"");
}

// As nodes/proxy in Kubernetes: the right to the object is not the right to what lies behind it.
TEST_F(RequestedAction, WaysIntoAnObjectNeedTheirOwnRightThoughTheyAreNotServed) {
  bob_gets(R"({"verbs":["*"],"apiGroups":[""],"resources":["configmaps"]},
              {"verbs":["get"],"apiGroups":[""],"resources":["configmaps/proxy"],"resourceNames":["a"]})");
  const std::string a = "/api/v1/namespaces/x/configmaps/a/proxy", b = "/api/v1/namespaces/x/configmaps/b/proxy";
  for (const std::string below : {"", "/", "/metrics", "/run/x/y"}) {
    const HttpResponse unknown = send(as_bob("GET", a + below));
    EXPECT_EQ(unknown.status, 404) << below;
    EXPECT_EQ(message(unknown), "the server could not find the requested resource");
    EXPECT_EQ(
        message(send(as_bob("GET", b + below))),
        "configmaps \"b\" is forbidden: User \"bob\" cannot get resource \"configmaps/proxy\" in API group \"\" in "
        "the namespace \"x\"");
    EXPECT_EQ(send(as_bob("POST", a + below)).status, 403);
  }
}

TEST_F(RequestedAction, MethodsOutsideTheApiAreRefusedAsAnyOther) {
  EXPECT_EQ(send(as_admin("OPTIONS", "/api/v1/namespaces/x/configmaps")).status, 405);
  EXPECT_EQ(send(as_bob("OPTIONS", "/api/v1/namespaces/x/configmaps")).status, 403);
  EXPECT_EQ(message(send(as_bob("DELETE", "/version"))), "forbidden: User \"bob\" cannot delete path \"/version\"");
  EXPECT_EQ(send(as_bob("GET", "/healthz/")).status, 403);
}

}  // namespace
}  // namespace berth::apiserver::http::requested_action_test
