#include <gtest/gtest.h>

#include "console/console_world.h"
#include "console/login_limits.h"

namespace berth::console::console_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class ConsoleTest : public testing::Test {
 protected:
  void SetUp() override {
    world.cluster.tokens = {{"boss-token", "boss"}, {"ann-token", "ann"}};
    for (const char* resource : {"workloads", "localqueues", "clusterqueues", "pods", "nodes"}) {
      world.cluster.grants.insert({"boss", "list", resource, "*"});
      world.cluster.grants.insert({"boss", "get", resource, "*"});
    }
    world.cluster.grants.insert({"ann", "list", "workloads", "team-a"});
    for (const char* ns : {"team-a", "team-b"}) world.cluster.set(api::kWorkloads, ConsoleWorld::workload(ns, "w"));
    world.cluster.set(api::kClusterQueues, ConsoleWorld::named("cq"));
    world.run(seconds(1));
  }
  ConsoleWorld world{true};
};

TEST_F(ConsoleTest, NothingBelowApiWithoutALogin) {
  for (const char* path :
       {"/api/session", "/api/stream?collections=workloads", "/api/object?resource=nodes&name=n", "/api/events",
        "/api/pods", "/api/explanation", "/api/prediction", "/api/history", "/api/nothing", "/api"}) {
    for (const char* cookie : {"", "wrong", "../../x"}) {
      const auto page = world.get(path, cookie);
      EXPECT_EQ(page->status(), 401) << path;
      EXPECT_EQ(page->text, "");
    }
  }
  EXPECT_EQ(world.post("/api/changes", "", "{}")->status(), 401);
}

TEST_F(ConsoleTest, PagesNeedNoLoginAndAllowNothingElse) {
  const auto page = world.ask("GET", "/queues/team-a");
  EXPECT_EQ(page->status(), 200);
  EXPECT_EQ(page->response->body, "<html>page</html>");
  EXPECT_EQ(page->response->header("Cache-Control"), "no-store");
  EXPECT_NE(page->response->header("Content-Security-Policy").find("default-src 'none'; script-src 'self'"),
            std::string_view::npos);
  const auto script = world.ask("GET", "/assets/app-1.js", {{"Accept-Encoding", "br, gzip"}});
  EXPECT_EQ(script->response->body, "GZ");
  EXPECT_EQ(script->response->header("Content-Encoding"), "gzip");
  EXPECT_NE(script->response->header("Cache-Control").find("immutable"), std::string_view::npos);
  EXPECT_EQ(world.ask("GET", "/assets/app-1.js")->response->body, "let a");
  EXPECT_EQ(world.ask("GET", "/assets/none.js")->status(), 404);
  EXPECT_EQ(world.ask("GET", "/assets/app-1.js.gz")->status(), 404);
}

TEST_F(ConsoleTest, AUserSeesTheOwnNamespaces) {
  const auto page = world.stream("workloads,clusterqueues", world.login("ann-token"));
  EXPECT_EQ(page->begun, 200);
  const auto rows = page->rows("workloads");
  EXPECT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows.contains("team-a/w"));
  EXPECT_TRUE(page->has("denied"));
  EXPECT_TRUE(page->has("ready"));
  EXPECT_EQ(page->rows("clusterqueues").size(), 0u);
  EXPECT_EQ(world.stream("workloads", world.login("boss-token"))->rows("workloads").size(), 2u);
}

TEST_F(ConsoleTest, ChangesFollowTheSnapshot) {
  const auto page = world.stream("workloads", world.login("ann-token"));
  world.cluster.set(api::kWorkloads, ConsoleWorld::workload("team-a", "new"));
  world.cluster.set(api::kWorkloads, ConsoleWorld::workload("team-b", "secret"));
  world.run(seconds(1));
  EXPECT_EQ(page->rows("workloads").size(), 2u);
  EXPECT_EQ(page->text.find("secret"), std::string::npos);
  world.cluster.erase(api::kWorkloads, "team-a/w");
  world.run(seconds(1));
  EXPECT_FALSE(page->rows("workloads").contains("team-a/w"));
}

TEST_F(ConsoleTest, LostRightsTakeTheRowsAwayAndNewOnesBringThem) {
  const auto page = world.stream("workloads", world.login("ann-token"));
  world.cluster.grants.erase({"ann", "list", "workloads", "team-a"});
  world.run(seconds(80));
  EXPECT_EQ(page->rows("workloads").size(), 0u);
  EXPECT_TRUE(page->has("denied"));
  world.cluster.set(api::kWorkloads, ConsoleWorld::workload("team-a", "later"));
  world.run(seconds(1));
  EXPECT_EQ(page->text.find("later"), std::string::npos);
  world.cluster.grants.insert({"ann", "list", "workloads", "*"});
  world.run(seconds(80));
  EXPECT_EQ(page->rows("workloads").size(), 3u);
}

TEST_F(ConsoleTest, ABusyPageLosesRightsAsWell) {
  const std::string cookie = world.login("ann-token");
  const auto page = world.stream("workloads", cookie);
  world.cluster.grants.erase({"ann", "list", "workloads", "team-a"});
  for (int i = 0; i < 8; ++i) {
    world.run(seconds(10));
    EXPECT_EQ(world.get("/api/session", cookie)->status(), 200);
  }
  EXPECT_EQ(page->rows("workloads").size(), 0u);
}

TEST_F(ConsoleTest, ASessionThatWasIdleAsksForItsRightsAnew) {
  const std::string cookie = world.login("ann-token");
  world.stream("workloads", cookie)->exchange.reset();
  world.cluster.grants.erase({"ann", "list", "workloads", "team-a"});
  world.run(minutes(10));
  const auto page = world.stream("workloads", cookie);
  EXPECT_EQ(page->text.find("team-a"), std::string::npos);
  EXPECT_TRUE(page->has("denied"));
}

TEST_F(ConsoleTest, ATokenThatIsTakenBackEndsTheStream) {
  const std::string cookie = world.login("ann-token");
  const auto page = world.stream("workloads", cookie);
  world.cluster.tokens.erase("ann-token");
  world.run(seconds(80));
  ASSERT_TRUE(page->ended);
  EXPECT_EQ(string_at(page->events().back().second, {"reason"}), "expired");
  EXPECT_EQ(world.get("/api/session", cookie)->status(), 401);
}

TEST_F(ConsoleTest, AServerThatCannotBeAskedEndsTheSessionOnlyAfterAWhile) {
  const std::string cookie = world.login("ann-token");
  const auto page = world.stream("workloads", cookie);
  world.cluster.reviews = false;
  world.run(minutes(3));
  EXPECT_FALSE(page->ended);
  EXPECT_EQ(page->rows("workloads").size(), 1u);
  world.run(minutes(5));
  EXPECT_TRUE(page->ended);
}

TEST_F(ConsoleTest, SigningOutEndsTheSession) {
  const std::string cookie = world.login("boss-token");
  const auto page = world.stream("workloads", cookie);
  EXPECT_EQ(world.post("/api/logout", cookie, "")->status(), 204);
  EXPECT_TRUE(page->ended);
  EXPECT_EQ(string_at(page->events().back().second, {"reason"}), "signedOut");
  EXPECT_EQ(world.get("/api/session", cookie)->status(), 401);
}

TEST_F(ConsoleTest, ASlowPageGetsTheLastStateOfEachRow) {
  const auto page = world.stream("workloads", world.login("boss-token"));
  page->room = false;
  const std::size_t before = page->text.size();
  for (int i = 0; i < 50; ++i) {
    Json changed = ConsoleWorld::workload("team-a", "w");
    changed.as_object()["spec"].as_object()["priority"] = i;
    world.cluster.set(api::kWorkloads, std::move(changed));
    world.run(seconds(1));
  }
  EXPECT_LT(page->text.size() - before, 2'000u);  // the event that found no room, and nothing after it
  page->room = true;
  page->go_on();
  world.run(seconds(1));
  EXPECT_EQ(int_at(page->rows("workloads").at("team-a/w"), {"priority"}), 49);
  EXPECT_LT(page->text.size() - before, 4'000u);
}

TEST_F(ConsoleTest, ASnapshotWaitsForRoom) {
  for (int i = 0; i < 3'000; ++i)
    world.cluster.set(api::kWorkloads, ConsoleWorld::workload("team-a", "w" + std::to_string(i)));
  world.run(seconds(1));
  const std::string cookie = world.login("boss-token");
  auto page = world.ask("GET", "/api/session", {{"Cookie", "berth_session=" + cookie}});
  page = std::make_shared<Page>();
  page->room = false;
  http::HttpRequest request;
  request.method = "GET";
  request.target = "/api/stream?collections=workloads";
  request.headers = {{"Cookie", "berth_session=" + cookie}};
  world.open(page, std::move(request));
  for (int i = 0; i < 60; ++i) {
    world.run(seconds(1));
    const std::size_t before = page->text.size();
    world.run(seconds(1));
    EXPECT_LT(page->text.size() - before, 1'000u);
    page->go_on();
  }
  EXPECT_EQ(page->rows("workloads").size(), 3'002u);
  EXPECT_TRUE(page->has("ready"));
}

TEST_F(ConsoleTest, PagesThatCloseAreForgotten) {
  const std::string cookie = world.login("boss-token");
  for (int i = 0; i < 50; ++i) {
    const auto page = world.stream("workloads", cookie);
    EXPECT_EQ(page->begun, 200);
    page->exchange.reset();
  }
  std::vector<PagePtr> open;
  for (int i = 0; i < 10; ++i) open.push_back(world.stream("workloads", cookie));
  EXPECT_EQ(world.stream("workloads", cookie)->status(), 429);
}

TEST_F(ConsoleTest, LoginsAreLimitedPerAddress) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(world.try_login("wrong" + std::to_string(i), "10.6.6.6")->status(), 401);
  EXPECT_EQ(world.try_login("boss-token", "10.6.6.6")->status(), 429);
  EXPECT_NE(world.login("boss-token", "10.0.0.2"), "");
  world.run(seconds(6));
  EXPECT_NE(world.login("boss-token", "10.6.6.6"), "");
}

TEST_F(ConsoleTest, ManyLoginsThatSucceedAreFine) {
  for (int i = 0; i < 50; ++i) EXPECT_NE(world.login("boss-token"), "");
}

TEST_F(ConsoleTest, RefusedTokensAreAskedAboutOnce) {
  world.cluster.requests.clear();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(world.try_login("wrong")->status(), 401);
  EXPECT_EQ(world.cluster.requests.size(), 1u);
}

TEST_F(ConsoleTest, RequestsOfASessionAreLimited) {
  const std::string cookie = world.login("boss-token");
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    const auto page = world.ask("GET", "/api/session", {{"Cookie", "berth_session=" + cookie}});
    refused += page->status() == 429 ? 1 : 0;
  }
  EXPECT_GT(refused, 50);
  world.run(seconds(10));
  EXPECT_EQ(world.get("/api/session", cookie)->status(), 200);
}

TEST_F(ConsoleTest, MalformedRequestsAreRefused) {
  const std::string cookie = world.login("boss-token");
  for (const char* body : {"", "{", "[]", "{\"token\":7}", "{\"token\":\"a b\"}", "{\"token\":\"a\\r\\nX: y\"}"}) {
    const int status = world.ask("POST", "/api/login", {{"X-Berth-Console", "1"}}, body, body)->status();
    EXPECT_TRUE(status == 400 || status == 401) << body;
  }
  for (const char* query : {"", "?collections=", "?collections=secrets", "?collections=workloads,%00"})
    EXPECT_EQ(world.get("/api/stream" + std::string(query), cookie)->status(), 400) << query;
  for (const char* query :
       {"resource=secrets&name=x", "resource=nodes&name=..", "resource=nodes&name=a/b", "resource=workloads&name=x",
        "resource=nodes&name=x&namespace=y", "resource=workloads&namespace=a/../b&name=x"})
    EXPECT_EQ(world.get("/api/object?" + std::string(query), cookie)->status(), 400) << query;
}

TEST_F(ConsoleTest, ObjectsAreShownToThoseWhoMayGetThem) {
  const auto shown = world.get("/api/object?resource=workloads&namespace=team-b&name=w", world.login("boss-token"));
  ASSERT_EQ(shown->status(), 200);
  EXPECT_NE(shown->response->body.find("\"yaml\""), std::string::npos);
  const auto hidden = world.get("/api/object?resource=workloads&namespace=team-b&name=w", world.login("ann-token"));
  EXPECT_EQ(hidden->status(), 403);
  EXPECT_EQ(hidden->response->body.find("yaml"), std::string::npos);
}

TEST_F(ConsoleTest, EventsComeNewestFirst) {
  const auto event = [](const char* name, const char* about, const char* time) {
    return JsonObject{{"metadata", JsonObject{{"namespace", "team-a"}, {"name", name}}},
                      {"involvedObject", JsonObject{{"kind", "Workload"}, {"name", about}}},
                      {"reason", name},
                      {"count", 2},
                      {"lastTimestamp", time}};
  };
  const api::GroupVersionResource events{"", "v1", "events"};
  world.cluster.set(events, event("older", "w", "2026-11-21T08:00:00Z"));
  world.cluster.set(events, event("newer", "w", "2026-11-21T09:00:00Z"));
  world.cluster.set(events, event("other", "x", "2026-11-21T09:00:00Z"));
  const std::string query = "/api/events?namespace=team-a&kind=Workload&name=w";
  EXPECT_EQ(world.get(query, world.login("ann-token"))->status(), 403);
  world.cluster.grants.insert({"ann", "list", "events", "team-a"});
  world.run(seconds(20));
  const auto page = world.get(query, world.login("ann-token"));
  ASSERT_EQ(page->status(), 200);
  const std::string& body = page->response->body;
  EXPECT_LT(body.find("newer"), body.find("older"));
  EXPECT_NE(body.find("older"), std::string::npos);
  EXPECT_EQ(body.find("other"), std::string::npos);
}

TEST_F(ConsoleTest, ExplanationsNameOtherNamespacesOnlyToThoseWhoMayAskEverywhere) {
  world.cluster.grants.insert({"ann", "get", "workloads/explanation", "team-a"});
  world.cluster.grants.insert({"boss", "get", "workloads/explanation", "*"});
  const std::string query = "/api/explanation?namespace=team-a&name=w";
  EXPECT_EQ(world.get(query, world.login("ann-token"))->status(), 200);
  EXPECT_FALSE(world.paths.back().ends_with("?all=true"));
  EXPECT_EQ(world.get(query, world.login("boss-token"))->status(), 200);
  EXPECT_TRUE(world.paths.back().ends_with("?all=true"));
  EXPECT_EQ(world.get("/api/explanation?namespace=team-b&name=w", world.login("ann-token"))->status(), 403);
  // A prediction has a right of its own.
  const std::string start = "/api/prediction?namespace=team-a&name=w";
  EXPECT_EQ(world.get(start, world.login("ann-token"))->status(), 403);
  world.cluster.grants.insert({"boss", "get", "workloads/prediction", "team-a"});
  EXPECT_EQ(world.get(start, world.login("boss-token"))->status(), 200);
  EXPECT_TRUE(world.paths.back().ends_with("/namespaces/team-a/workloads/w/prediction")) << world.paths.back();
}

TEST_F(ConsoleTest, PositionsAreAskedOnlyWhileSomebodyLooks) {
  Json queue = ConsoleWorld::named("cq");
  queue.as_object()["status"] = JsonObject{{"pendingWorkloads", 1}};
  world.cluster.set(api::kClusterQueues, queue);
  world.visibility = {
      200,
      JsonObject{{"items", JsonArray{JsonObject{{"metadata", JsonObject{{"namespace", "team-a"}, {"name", "w"}}},
                                                {"positionInClusterQueue", 3},
                                                {"positionInLocalQueue", 1}}}}},
      {}};
  world.run(minutes(1));
  EXPECT_TRUE(world.paths.empty());
  const auto page = world.stream("positions", world.login("ann-token"));
  world.run(seconds(3));
  EXPECT_EQ(world.paths.size(), 1u);
  EXPECT_EQ(int_at(page->rows("positions").at("team-a/w"), {"position"}), 3);
}

TEST_F(ConsoleTest, ChangesAreMadeWithTheTokenOfTheUser) {
  const auto done = world.post("/api/changes", world.login("ann-token"),
                               R"({"action":"deactivate","namespace":"team-a","name":"w"})");
  EXPECT_EQ(done->status(), 204);
  EXPECT_EQ(world.users, std::vector<std::string>{"ann-token"});
  const auto& sent = world.cluster.requests.back();
  EXPECT_EQ(sent.verb, api::Verb::kPatch);
  EXPECT_EQ(sent.ns + "/" + sent.name, "team-a/w");
  EXPECT_EQ(to_string(sent.body), R"({"spec":{"active":false}})");
}

TEST(ConsoleWithoutChanges, RefusesThem) {
  ConsoleWorld world;
  world.cluster.tokens = {{"t", "boss"}};
  EXPECT_EQ(
      world.post("/api/changes", world.login("t"), R"({"action":"activate","namespace":"a","name":"w"})")->status(),
      403);
  EXPECT_TRUE(world.users.empty());
}

TEST_F(ConsoleTest, NodesShowWhoUsesThem) {
  world.cluster.set(api::kNodes,
                    JsonObject{{"metadata", JsonObject{{"name", "n"}, {"labels", JsonObject{{"rack", "r"}}}}},
                               {"status", JsonObject{{"allocatable", JsonObject{{"cpu", "4"}}}}}});
  world.cluster.set(api::kTopologies,
                    JsonObject{{"metadata", JsonObject{{"name", "t"}}},
                               {"spec", JsonObject{{"levels", JsonArray{JsonObject{{"nodeLabel", "rack"}}}}}}});
  world.cluster.set(
      api::kPods,
      JsonObject{{"metadata", JsonObject{{"name", "p"},
                                         {"namespace", "team-a"},
                                         {"annotations", JsonObject{{"kueue.x-k8s.io/workload", "w"}}}}},
                 {"spec", JsonObject{{"nodeName", "n"},
                                     {"containers",
                                      JsonArray{JsonObject{
                                          {"resources", JsonObject{{"requests", JsonObject{{"cpu", "1500m"}}}}}}}}}}});
  world.run(seconds(1));
  const auto page = world.stream("nodes,placements", world.login("boss-token"));
  const Json node = page->rows("nodes").at("n");
  EXPECT_EQ(string_at(node, {"domains", "rack"}), "r");
  EXPECT_EQ(int_at(node, {"used", "cpu"}), 1'500);
  EXPECT_EQ(int_at(node, {"allocatable", "cpu"}), 4'000);
  EXPECT_EQ(to_string(page->rows("placements").at("n/team-a").at("workloads")), R"([["w",{"cpu":1500,"pods":1}]])");
  world.cluster.erase(api::kPods, "team-a/p");
  world.run(seconds(1));
  EXPECT_EQ(page->rows("placements").size(), 0u);
  EXPECT_EQ(int_at(page->rows("nodes").at("n"), {"used", "cpu"}), 0);
}

TEST_F(ConsoleTest, PodsAreFoundBelowTheOwnerOfTheWorkload) {
  const auto owned = [](const std::string& name, const std::string& above) {
    const Json reference = JsonObject{{"uid", above}, {"controller", true}};
    return Json(JsonObject{{"metadata", JsonObject{{"name", name},
                                                   {"namespace", "team-a"},
                                                   {"uid", "uid-of-" + name},
                                                   {"ownerReferences", JsonArray{reference}}}},
                           {"spec", JsonObject{{"nodeName", "n"}}}});
  };
  world.cluster.grants.insert({"boss", "list", "pods", "*"});
  world.cluster.set(api::kWorkloads, owned("ray", "uid-of-rayjob"));
  world.cluster.set(api::kPods, owned("worker", "uid-of-raycluster"));
  const std::string cookie = world.login("boss-token");
  const auto pods = [&] { return world.get("/api/pods?namespace=team-a&workload=ray", cookie)->response->body; };
  EXPECT_EQ(pods(), R"({"pods":[]})");
  world.cluster.set(ConsoleWorld::kRayClusters, owned("raycluster", "uid-of-rayjob"));
  world.run(seconds(1));
  EXPECT_NE(pods().find("\"worker\""), std::string::npos) << pods();
  EXPECT_NE(world.stream("placements", cookie)->rows("placements")["n/team-a"], Json());
}

TEST_F(ConsoleTest, BehindATrustedProxyEachClientHasItsOwnLimit) {
  const auto attempt = [&](const std::string& peer, const std::string& client) {
    return world
        .ask("POST", "/api/login", {{"X-Berth-Console", "1"}, {"X-Forwarded-For", client}}, R"({"token":"wrong"})",
             peer)
        ->status();
  };
  for (int i = 0; i < 20; ++i) attempt("192.0.2.1", "203.0.113.1");
  EXPECT_EQ(attempt("192.0.2.1", "203.0.113.1"), 429);
  EXPECT_EQ(attempt("192.0.2.1", "203.0.113.2"), 401);
  for (int i = 0; i < 20; ++i) attempt("198.51.100.1", "203.0.113." + std::to_string(100 + i));
  EXPECT_EQ(attempt("198.51.100.1", "203.0.113.3"), 429) << "not a trusted proxy";
}

}  // namespace
}  // namespace berth::console::console_test
