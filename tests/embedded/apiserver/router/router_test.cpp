#include <gtest/gtest.h>

#include "embedded/apiserver/http_fake.h"

namespace berth::apiserver::http::router_test {
namespace {

using api::Verb;

class RouterTest : public testing::Test {
 protected:
  RouterTest() {
    RouterOptions options;
    options.seed = 1;
    options.tokens.add("t0ken", authenticated("bob", "u1", {"team-a"}));
    options.discovery.checks = {{"ping", nullptr, false}, {"caches", [] { return std::string("not synced"); }, true}};
    router_ = std::make_unique<Router>(core_, registry_, executor_, std::move(options));
    core_.next = {200, parse_json(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}})").value(), {}};
  }

  HttpRequest as_admin(std::string method, std::string target, std::string body = "",
                       std::string type = "application/json") {
    HttpRequest r;
    r.method = std::move(method);
    r.target = std::move(target);
    r.body = std::move(body);
    if (!r.body.empty()) r.headers.push_back({"Content-Type", std::move(type)});
    r.peer = {"admin", {"system:masters"}};
    return r;
  }
  HttpRequest with(HttpRequest r, std::string name, std::string value) {
    r.headers.push_back({std::move(name), std::move(value)});
    return r;
  }
  HttpResponse send(HttpRequest request) {
    auto sink = std::make_shared<KeepingSink>();
    const auto exchange = router_->handle(std::move(request), sink);
    executor_.run_ready(100);
    EXPECT_TRUE(sink->answered);
    return sink->response;
  }
  static std::string reason(const HttpResponse& r) {
    return std::string(string_at(parse_json(r.body).value_or(Json()), {"reason"}));
  }
  static std::string message(const HttpResponse& r) {
    return std::string(string_at(parse_json(r.body).value_or(Json()), {"message"}));
  }

  VirtualExecutor executor_{parse_time("2026-01-01T00:00:00Z").value()};
  FakeCore core_{executor_};
  Registry registry_ = small_registry();
  std::unique_ptr<Router> router_;
};

TEST_F(RouterTest, MapsMethodsAndPathsToVerbs) {
  struct Case {
    std::string method, target, body;
    Verb verb;
    std::string ns, name, subresource;
  };
  const std::vector<Case> cases = {
      {"GET", "/api/v1/configmaps", "", Verb::kList, "", "", ""},
      {"GET", "/api/v1/namespaces/x/configmaps", "", Verb::kList, "x", "", ""},
      {"GET", "/api/v1/namespaces/x/configmaps/", "", Verb::kList, "x", "", ""},
      {"GET", "/api/v1/namespaces/x/configmaps/a", "", Verb::kGet, "x", "a", ""},
      {"HEAD", "/api/v1/namespaces/x/configmaps/a", "", Verb::kGet, "x", "a", ""},
      {"POST", "/api/v1/namespaces/x/configmaps", "{}", Verb::kCreate, "x", "", ""},
      {"PUT", "/api/v1/namespaces/x/configmaps/a", "{}", Verb::kUpdate, "x", "a", ""},
      {"DELETE", "/api/v1/namespaces/x/configmaps/a", "", Verb::kDelete, "x", "a", ""},
      {"DELETE", "/api/v1/namespaces/x/configmaps", "", Verb::kDeleteCollection, "x", "", ""},
      {"GET", "/api/v1/namespaces/x", "", Verb::kGet, "", "x", ""},
      {"PUT", "/api/v1/namespaces/x/status", "{}", Verb::kUpdate, "", "x", "status"},
      {"GET", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/q/status", "", Verb::kGet, "", "q", "status"},
  };
  for (const Case& c : cases) {
    core_.requests.clear();
    send(as_admin(c.method, c.target, c.body));
    ASSERT_EQ(core_.requests.size(), 1u) << c.method << " " << c.target;
    const api::RestRequest& r = core_.requests[0];
    EXPECT_EQ(static_cast<int>(r.verb), static_cast<int>(c.verb)) << c.method << " " << c.target;
    EXPECT_EQ(r.ns, c.ns);
    EXPECT_EQ(r.name, c.name);
    EXPECT_EQ(r.subresource, c.subresource);
    EXPECT_EQ(r.user.name, "admin");
  }
}

TEST_F(RouterTest, RefusesWhatItCannotRoute) {
  struct Case {
    std::string method, target;
    int status;
    std::string reason;
  };
  const std::vector<Case> cases = {
      {"GET", "/nope", 404, ""},
      {"GET", "/apis/nope.example.com/v1/things", 404, ""},
      {"GET", "/apis//v1/pods", 404, ""},
      {"GET", "/api/v1/namespaces//pods", 404, ""},
      {"GET", "/api/v1/nopes", 404, "NotFound"},
      {"GET", "/api/v1/namespaces/x/namespaces", 404, "NotFound"},
      {"GET", "/api/v1/configmaps/a", 404, "NotFound"},
      {"GET", "/api/v1/namespaces/x/configmaps/a/status", 404, "NotFound"},
      {"DELETE", "/api/v1/namespaces", 405, "MethodNotAllowed"},
      {"POST", "/api/v1/configmaps", 405, "MethodNotAllowed"},
      {"POST", "/api/v1/namespaces/default", 405, "MethodNotAllowed"},
      {"BREW", "/api/v1/namespaces", 405, "MethodNotAllowed"},
      {"GET", "/api/v1/../v1/configmaps", 400, "BadRequest"},
      {"GET", "/api/v1/%zz", 400, "BadRequest"},
      {"GET", "nonsense", 400, "BadRequest"},
  };
  for (const Case& c : cases) {
    const HttpResponse r = send(as_admin(c.method, c.target));
    EXPECT_EQ(r.status, c.status) << c.method << " " << c.target;
    EXPECT_EQ(reason(r), c.reason) << c.method << " " << c.target;
  }
  EXPECT_TRUE(core_.requests.empty());
  EXPECT_EQ(send(as_admin("POST", "/api/v1/namespaces/default")).header("Allow"), "DELETE, GET, PATCH, PUT");
}

TEST_F(RouterTest, LetsOnlyKnownUsersIn) {
  HttpRequest nobody;
  nobody.method = "GET";
  nobody.target = "/api/v1/configmaps";
  EXPECT_EQ(send(nobody).status, 403);
  nobody.target = "/version";
  EXPECT_EQ(send(nobody).status, 200);
  nobody.target = "/apis";
  EXPECT_EQ(send(nobody).status, 403);
  HttpRequest bob = with(nobody, "Authorization", "Bearer t0ken");
  EXPECT_EQ(send(bob).status, 200);
  EXPECT_EQ(send(with(as_admin("GET", "/api/v1/configmaps"), "Impersonate-User", "bob")).status, 403);
  EXPECT_EQ(send(with(nobody, "Authorization", "Bearer t0keN")).status, 401);
  EXPECT_EQ(send(with(nobody, "Authorization", "Basic Ym9iOmJvYg==")).status, 401);
  bob.target = "/api/v1/namespaces/x/configmaps/a";
  EXPECT_EQ(message(send(bob)),
            "configmaps \"a\" is forbidden: User \"bob\" cannot get resource \"configmaps\" in API group "
            "\"\" in the "
            "namespace \"x\"");
}

TEST_F(RouterTest, DecodesJsonAndYamlBodies) {
  send(as_admin("POST", "/api/v1/namespaces/x/configmaps", R"({"data":{"a":"1","a":"2"}})"));
  EXPECT_EQ(to_string(core_.requests.at(0).body), R"({"data":{"a":"2"}})");
  EXPECT_EQ(core_.requests[0].duplicate_fields, std::vector<std::string>{"data.a"});
  send(as_admin("POST", "/api/v1/namespaces/x/configmaps", "data:\n  a: '1'\n", "application/yaml; charset=utf-8"));
  EXPECT_EQ(to_string(core_.requests.at(1).body), R"({"data":{"a":"1"}})");
}

TEST_F(RouterTest, RefusesBodiesItCannotRead) {
  const std::string path = "/api/v1/namespaces/x/configmaps";
  EXPECT_EQ(send(as_admin("POST", path, "x", "text/plain")).status, 415);
  EXPECT_EQ(send(as_admin("POST", path, "k8s", "application/vnd.kubernetes.protobuf")).status, 400);
  EXPECT_EQ(
      send(as_admin("POST", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues", "k8s", "application/vnd.kubernetes.protobuf"))
          .status,
      415);
  EXPECT_EQ(send(as_admin("PATCH", path + "/a", "{}", "application/json")).status, 415);
  EXPECT_EQ(send(as_admin("PATCH", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/q", "{}",
                          "application/strategic-merge-patch+json"))
                .status,
            415);
  const HttpResponse broken = send(as_admin("POST", path, "{\"a\":"));
  EXPECT_EQ(broken.status, 400);
  EXPECT_NE(message(broken).find("must be of type ConfigMap"), std::string::npos) << broken.body;
  EXPECT_EQ(send(as_admin("POST", path, "[1]")).status, 400);
  EXPECT_EQ(send(as_admin("POST", path, "a: &x [*x]", "application/yaml")).status, 400);
  HttpRequest large = as_admin("POST", path);
  large.body_too_large = true;
  EXPECT_EQ(send(large).status, 413);
  EXPECT_TRUE(core_.requests.empty());
}

TEST_F(RouterTest, ReadsQueryOptions) {
  send(with(as_admin("POST", "/api/v1/namespaces/x/configmaps?dryRun=All&fieldValidation=Strict", "{}"), "User-Agent",
            "kubectl/v1.32 (linux)"));
  const api::RestRequest& create = core_.requests.at(0);
  EXPECT_TRUE(create.dry_run);
  EXPECT_EQ(create.field_manager, "kubectl");
  EXPECT_TRUE(create.field_validation == api::FieldValidation::kStrict);
  send(as_admin("GET",
                "/api/v1/configmaps?limit=5&labelSelector=a%20in+(b%2Cc)&fieldSelector=metadata.name%3Dx&continue=c"));
  const api::RestRequest& list = core_.requests.at(1);
  EXPECT_EQ(list.limit, 5);
  EXPECT_EQ(list.label_selector, "a in (b,c)");
  EXPECT_EQ(list.field_selector, "metadata.name=x");
  EXPECT_EQ(list.continue_token, "c");
  send(as_admin("PATCH", "/api/v1/namespaces/x/configmaps/a?fieldManager=m&force=true", "a: 1",
                "application/apply-patch+yaml"));
  const api::RestRequest& apply = core_.requests.at(2);
  EXPECT_TRUE(apply.force);
  EXPECT_EQ(apply.field_manager, "m");
  EXPECT_TRUE(apply.patch_type == api::PatchType::kApply);
  send(as_admin("DELETE", "/api/v1/namespaces/x/configmaps/a?propagationPolicy=Orphan&gracePeriodSeconds=3"));
  EXPECT_EQ(to_string(core_.requests.at(3).body), R"({"gracePeriodSeconds":3,"propagationPolicy":"Orphan"})");
}

TEST_F(RouterTest, RefusesOptionsThatMakeNoSense) {
  const std::string one = "/api/v1/namespaces/x/configmaps/a", all = "/api/v1/namespaces/x/configmaps";
  struct Case {
    std::string method, target, type;
    int status;
  };
  const std::vector<Case> cases = {
      {"POST", all + "?dryRun=Some", "application/json", 422},
      {"POST", all + "?fieldValidation=Nope", "application/json", 422},
      {"POST", all + "?fieldManager=" + std::string(129, 'm'), "application/json", 422},
      {"PATCH", one + "?force=true", "application/merge-patch+json", 422},
      {"PATCH", one, "application/apply-patch+yaml", 422},
      {"DELETE", one + "?propagationPolicy=Sideways", "", 422},
      {"DELETE", one + "?gracePeriodSeconds=soon", "", 400},
      {"GET", all + "?limit=many", "", 400},
      {"GET", all + "?resourceVersion=abc", "", 400},
      {"GET", all + "?resourceVersionMatch=Exact", "", 422},
      {"GET", all + "?resourceVersion=0&resourceVersionMatch=Exact", "", 422},
      {"GET", all + "?resourceVersion=1&resourceVersionMatch=Soon", "", 422},
      {"GET", all + "?sendInitialEvents=true", "", 422},
      {"GET", all + "?watch=1&sendInitialEvents=true", "", 422},
      {"GET", all + "?watch=1&resourceVersionMatch=NotOlderThan", "", 422},
      {"GET", all + "?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact", "", 422},
      {"GET", all + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x", "", 422},
      {"GET", all + "?watch=1&resourceVersion=abc", "", 500},
  };
  for (const Case& c : cases) {
    const HttpResponse r = send(as_admin(c.method, c.target, c.type.empty() ? "" : "{}", c.type));
    EXPECT_EQ(r.status, c.status) << c.method << " " << c.target << "\n" << r.body;
  }
  EXPECT_TRUE(core_.requests.empty());
  EXPECT_EQ(
      string_at(
          parse_json(send(as_admin("GET", all + "?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact")).body)
              .value(),
          {"message"}),
      "ListOptions.meta.k8s.io \"\" is invalid: [resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
      "resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: \"Exact\": supported values: "
      "\"NotOlderThan\"]");
}

TEST_F(RouterTest, AnswersInTheFormThatIsAsked) {
  core_.next.body = parse_json(R"({"kind":"ClusterQueue","apiVersion":"kueue.x-k8s.io/v1beta2","metadata":
    {"name":"q","resourceVersion":"7","creationTimestamp":"2025-12-31T23:58:30Z"},"spec":{"cohortName":"c"},
    "status":{"pendingWorkloads":3}})")
                        .value();
  const HttpRequest get = as_admin("GET", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/q");
  const HttpResponse table = send(with(get, "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"));
  const Json rows = parse_json(table.body).value();
  EXPECT_EQ(
      to_string(*find_path(rows, {"rows"})),
      R"([{"cells":["q","c",3,"90s"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":)"
      R"({"name":"q","resourceVersion":"7","creationTimestamp":"2025-12-31T23:58:30Z"}}}])");
  EXPECT_EQ(string_at(rows, {"metadata", "resourceVersion"}), "7");
  const HttpResponse yaml = send(with(get, "Accept", "application/yaml"));
  EXPECT_EQ(yaml.header("content-type"), "application/yaml");
  EXPECT_NE(yaml.body.find("cohortName: c"), std::string::npos);
  EXPECT_EQ(send(with(get, "Accept", "text/html")).status, 406);
  EXPECT_EQ(send(with(get, "Accept", "application/vnd.kubernetes.protobuf, application/json")).status, 200);
  EXPECT_EQ(
      send(with(get, "Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")).body.substr(0, 31),
      R"({"kind":"PartialObjectMetadata")");
}

TEST_F(RouterTest, PassesOnWarningsAndRetryAfter) {
  core_.next.warnings = {"unknown field \"x\""};
  const HttpResponse warned = send(as_admin("POST", "/api/v1/namespaces/x/configmaps", "{}"));
  EXPECT_EQ(warned.header("Warning"), R"(299 - "unknown field \"x\"")");
  core_.next = {504, api::make_status(504, "Timeout", "t", JsonObject{{"retryAfterSeconds", 1}}), {}};
  EXPECT_EQ(send(as_admin("GET", "/api/v1/configmaps")).header("Retry-After"), "1");
}

TEST_F(RouterTest, GivesEveryRequestAnAuditId) {
  const std::string_view first = send(as_admin("GET", "/version")).header("Audit-Id");
  EXPECT_EQ(first.size(), 36u);
  EXPECT_EQ(send(with(as_admin("GET", "/version"), "Audit-ID", "abc")).header("Audit-Id"), "abc");
}

TEST_F(RouterTest, StreamsWatchesAndEncodesAnEventOnce) {
  std::vector<std::shared_ptr<KeepingSink>> sinks;
  std::vector<std::unique_ptr<Exchange>> exchanges;
  for (int i = 0; i < 3; ++i) {
    sinks.push_back(std::make_shared<KeepingSink>());
    exchanges.push_back(
        router_->handle(as_admin("GET", "/api/v1/configmaps?watch=1&allowWatchBookmarks=true"), sinks.back()));
  }
  executor_.run_ready(100);
  for (const auto& s : sinks) EXPECT_TRUE(s->answered && !s->ended) << "headers must not wait for the first event";
  const auto object = std::make_shared<const Json>(core_.next.body);
  for (const auto& w : core_.watchers) w->on_event({api::WatchEvent::Type::kAdded, object});
  EXPECT_EQ(*sinks[0]->chunks.at(0),
            "{\"type\":\"ADDED\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{"
            "\"name\":\"a\"}}}\n");
  EXPECT_EQ(sinks[0]->chunks[0], sinks[1]->chunks.at(0));
  EXPECT_EQ(sinks[0]->chunks[0], sinks[2]->chunks.at(0));
  core_.watchers[0]->on_end();
  EXPECT_TRUE(sinks[0]->ended);
  exchanges[1].reset();
  EXPECT_TRUE(core_.watchers[1]->gone);
  EXPECT_TRUE(core_.requests[0].allow_bookmarks);
  EXPECT_GE(core_.requests[0].timeout_seconds.value_or(0), 1800);
}

TEST_F(RouterTest, AWatchIsHeldWhileItsClientDoesNotKeepUp) {
  auto sink = std::make_shared<KeepingSink>();
  sink->room_for = 2;
  const auto exchange = router_->handle(as_admin("GET", "/api/v1/configmaps?watch=1"), sink);
  const auto object = std::make_shared<const Json>(core_.next.body);
  auto& watcher = *core_.watchers.at(0);
  watcher.on_event({api::WatchEvent::Type::kAdded, object});
  EXPECT_FALSE(watcher.held);
  watcher.on_event({api::WatchEvent::Type::kAdded, object});
  EXPECT_TRUE(watcher.held);
  sink->room();
  EXPECT_FALSE(watcher.held);
}

// As in kube-apiserver, this depends on whether a bookmark will end the initial list.
TEST_F(RouterTest, AListAsAStreamHasNoFormAsATable) {
  const std::string all = "/api/v1/configmaps?watch=1", match = "&resourceVersionMatch=NotOlderThan";
  const std::string marks = "&allowWatchBookmarks=true", initial = "&sendInitialEvents=true" + match;
  const auto status = [&](const std::string& query, const std::string& accept) {
    auto sink = std::make_shared<KeepingSink>();
    const auto exchange = router_->handle(with(as_admin("GET", all + query), "Accept", accept), sink);
    executor_.run_ready(100);
    return sink->response.status;
  };
  const std::string table = "application/json;as=Table;v=v1;g=meta.k8s.io";
  for (const std::string& streamed : {initial + marks, marks, marks + "&resourceVersion=0"}) {
    EXPECT_EQ(status(streamed, table), 406) << streamed;
    EXPECT_EQ(status(streamed, table + ",application/json"), 200) << streamed;
    EXPECT_EQ(status(streamed, "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"), 200) << streamed;
  }
  for (const std::string& other :
       {std::string(), initial, marks + "&resourceVersion=5", marks + "&sendInitialEvents=false" + match})
    EXPECT_EQ(status(other, table), 200) << other;
  EXPECT_EQ(status(marks + "&sendInitialEvents=true", table), 422) << "mistakes come first";
}

TEST_F(RouterTest, AWatchThatCannotStartAnswersItsStatus) {
  auto sink = std::make_shared<KeepingSink>();
  const auto exchange = router_->handle(as_admin("GET", "/api/v1/configmaps?watch=true&resourceVersion=1"), sink);
  core_.watchers.at(0)->on_event(
      {api::WatchEvent::Type::kError, std::make_shared<const Json>(api::make_status(410, "Expired", "too old"))});
  core_.watchers[0]->on_end();
  EXPECT_EQ(sink->response.status, 410);
  EXPECT_TRUE(sink->chunks.empty());
}

TEST_F(RouterTest, TheFirstRowOfAWatchedTableBringsTheColumns) {
  auto sink = std::make_shared<KeepingSink>();
  const auto exchange = router_->handle(with(as_admin("GET", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues?watch=1"),
                                             "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"),
                                        sink);
  const auto object = std::make_shared<const Json>(core_.next.body);
  core_.watchers.at(0)->on_event({api::WatchEvent::Type::kAdded, object});
  core_.watchers[0]->on_event({api::WatchEvent::Type::kAdded, object});
  EXPECT_NE(sink->chunks.at(0)->find("\"columnDefinitions\":[{"), std::string::npos);
  EXPECT_NE(sink->chunks.at(1)->find("\"columnDefinitions\":null"), std::string::npos);
}

TEST_F(RouterTest, AnswersWhoAmIAndMayI) {
  HttpRequest who = as_admin("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}");
  EXPECT_EQ(string_at(parse_json(send(who).body).value(), {"status", "userInfo", "username"}), "admin");
  const std::string ask = R"({"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}})";
  HttpRequest may = as_admin("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", ask);
  EXPECT_TRUE(bool_at(parse_json(send(may).body).value(), {"status", "allowed"}));
  may.peer.reset();
  may.headers.push_back({"Authorization", "Bearer t0ken"});
  EXPECT_FALSE(bool_at(parse_json(send(may).body).value(), {"status", "allowed"}, true));
  may.body = "{}";
  EXPECT_EQ(send(may).status, 422);
}

TEST_F(RouterTest, ReportsHealth) {
  EXPECT_EQ(send(as_admin("GET", "/healthz")).body, "ok");
  EXPECT_EQ(send(as_admin("GET", "/livez?verbose")).body, "[+]ping ok\nlivez check passed\n");
  const HttpResponse ready = send(as_admin("GET", "/readyz"));
  EXPECT_EQ(ready.status, 500);
  EXPECT_EQ(ready.body, "[+]ping ok\n[-]caches failed: not synced\nreadyz check failed\n");
  EXPECT_EQ(send(as_admin("GET", "/readyz/ping")).status, 200);
  EXPECT_EQ(send(as_admin("GET", "/readyz?exclude=caches")).status, 200);
}

TEST_F(RouterTest, DescribesWhatIsServed) {
  const std::string_view v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
  const HttpResponse apis = send(with(as_admin("GET", "/apis"), "Accept", std::string(v2)));
  EXPECT_EQ(apis.header("Content-Type"), "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_NE(apis.body.find("\"clusterqueues\""), std::string::npos);
  const std::string etag(apis.header("ETag"));
  const HttpResponse again =
      send(with(with(as_admin("GET", "/apis"), "Accept", std::string(v2)), "If-None-Match", etag));
  EXPECT_EQ(again.status, 304);
  EXPECT_TRUE(again.body.empty());
  registry_.remove({"kueue.x-k8s.io", "v1beta2", "clusterqueues"});
  EXPECT_EQ(send(with(with(as_admin("GET", "/apis"), "Accept", std::string(v2)), "If-None-Match", etag)).status, 200);
  EXPECT_EQ(send(as_admin("GET", "/apis/kueue.x-k8s.io")).status, 404);
  EXPECT_EQ(int_at(parse_json(send(as_admin("GET", "/version")).body).value(), {"x"}, 9), 9);
  EXPECT_NE(send(as_admin("GET", "/api/v1")).body.find("\"namespaces/status\""), std::string::npos);
}

}  // namespace
}  // namespace berth::apiserver::http::router_test
