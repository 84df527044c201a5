#include "serve/visibility.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/status.h"
#include "serve/keeping_sink.h"

namespace berth::serve::visibility_test {
namespace {

using api::visibility::PendingWorkload;
using testing::HasSubstr;

// Three workloads are pending in "cq", all submitted to team/lq.
PendingSource three_wait() {
  const auto page = [](api::visibility::Page asked) {
    std::vector<PendingWorkload> items;
    for (std::size_t i = asked.offset; i < 3 && items.size() < asked.limit; ++i) {
      auto w = std::make_shared<api::kueue::Workload>();
      w->meta.name = "w" + std::to_string(i);
      items.push_back({w, i, i});
    }
    return items;
  };
  return {[=](std::string_view queue, api::visibility::Page asked) {
            return queue == "cq" ? PendingSource::Items(page(asked)) : std::nullopt;
          },
          [=](std::string_view ns, std::string_view queue, api::visibility::Page asked) {
            return ns == "team" && queue == "lq" ? PendingSource::Items(page(asked)) : std::nullopt;
          },
          [](std::string_view, std::string_view, bool) { return std::nullopt; },
          [](std::string_view ns, std::string_view workload, bool all) -> std::optional<Json> {
            if (ns != "team" || workload != "w") return std::nullopt;
            return JsonObject{{"summary", all ? "with all names" : "with its own names"}};
          },
          [](const Json& what_if, std::string_view ns) -> tl::expected<Json, api::RestResponse> {
            if (find(what_if, "busy") != nullptr)
              return tl::unexpected(api::RestResponse{
                  429, api::make_status(429, "TooManyRequests", "later", JsonObject{{"retryAfterSeconds", 7}}), {}});
            if (find(what_if, "spec") == nullptr) return tl::unexpected(api::bad_request("spec: expected changes"));
            return JsonObject{{"asked", ns}};
          }};
}

struct House {
  std::vector<AccessAttributes> asked;
  std::optional<http::HttpResponse> refusal;
  std::string missing;
  VisibilityHandler handler{three_wait(),
                            [this](const http::HttpRequest&, const AccessAttributes& access, auto done) {
                              asked.push_back(access);
                              done(refusal);
                            },
                            {{"caches", [this] { return missing; }}}};

  http::HttpResponse call(std::string target, std::string method = "GET", std::string accept = "application/json") {
    const auto sink =
        ask(handler, request_of(std::move(method), std::move(target), "", {{"Accept", std::move(accept)}}));
    return sink->response.value_or(http::HttpResponse{0, {}, "no answer"});
  }
  std::string names(const std::string& target) {
    const auto response = call(target);
    EXPECT_EQ(response.status, 200) << response.body;
    std::string all;
    const Json body = parse_json(response.body).value();
    for (const Json& item : array_at(body, {"items"})) all += std::string(string_at(item, {"metadata", "name"})) + " ";
    return all;
  }
};

const std::string kGroupPath = "/apis/visibility.kueue.x-k8s.io";
const std::string kCq = kGroupPath + "/v1beta2/clusterqueues/cq/pendingworkloads";

TEST(Visibility, PredictionsNeedTheRightToTheirNames) {
  House house;
  const std::string path = kGroupPath + "/v1beta2/namespaces/team/workloads/w/prediction";
  const Json own = parse_json(house.call(path).body).value();
  EXPECT_EQ(string_at(own, {"kind"}), "WorkloadPrediction");
  EXPECT_EQ(string_at(own, {"metadata", "namespace"}), "team");
  EXPECT_EQ(string_at(own, {"summary"}), "with its own names");
  EXPECT_THAT(house.call(path + "?all=true").body, HasSubstr("with all names"));
  ASSERT_EQ(house.asked.size(), 2u);
  EXPECT_EQ(house.asked[0].ns, "team");
  EXPECT_EQ(house.asked[0].subresource, "prediction");
  EXPECT_EQ(house.asked[1].ns, "") << "in all namespaces";
  EXPECT_EQ(house.call(kGroupPath + "/v1beta2/namespaces/team/workloads/other/prediction").status, 404);
  EXPECT_EQ(house.call(path, "POST").status, 405);
}

TEST(Visibility, WhatIfsOfANamespaceNeedTheRightThereOnly) {
  House house;
  const auto post = [&](const std::string& path, const std::string& body) {
    const auto sink = ask(house.handler, request_of("POST", kGroupPath + "/v1beta2" + path, body));
    return sink->response.value_or(http::HttpResponse{0, {}, "no answer"});
  };
  const auto here = post("/namespaces/team/localwhatifs", R"({"spec": {}})");
  EXPECT_EQ(here.status, 201) << here.body;
  const Json document = parse_json(here.body).value();
  EXPECT_EQ(string_at(document, {"kind"}), "LocalWhatIf");
  EXPECT_EQ(string_at(document, {"metadata", "namespace"}), "team");
  EXPECT_EQ(string_at(document, {"status", "asked"}), "team");
  EXPECT_EQ(house.asked.back().verb, "create");
  EXPECT_EQ(house.asked.back().resource.resource, "localwhatifs");
  EXPECT_EQ(house.asked.back().ns, "team");
  EXPECT_EQ(string_at(parse_json(post("/whatifs", R"({"spec": {}})").body).value(), {"kind"}), "WhatIf");
  EXPECT_EQ(house.asked.back().resource.resource, "whatifs");
  EXPECT_EQ(house.asked.back().ns, "");
  EXPECT_EQ(post("/namespaces/team/localwhatifs", "{}").status, 400);
  const auto busy = post("/namespaces/team/localwhatifs", R"({"busy": true})");
  EXPECT_EQ(busy.status, 429);
  EXPECT_EQ(busy.header("Retry-After"), "7");
  EXPECT_EQ(post("/namespaces/team/whatifs", R"({"spec": {}})").status, 404);
  EXPECT_EQ(house.call(kGroupPath + "/v1beta2/namespaces/team/localwhatifs").status, 405);
}

TEST(Visibility, ReportsPagesOfQueues) {
  House house;
  EXPECT_EQ(house.names(kCq), "w0 w1 w2 ");
  EXPECT_EQ(house.names(kCq + "?limit=2"), "w0 w1 ");
  EXPECT_EQ(house.names(kCq + "?limit=2&offset=2"), "w2 ");
  EXPECT_EQ(house.names(kGroupPath + "/v1beta1/namespaces/team/localqueues/lq/pendingworkloads?offset=1"), "w1 w2 ");
  ASSERT_EQ(house.asked.size(), 4u);
  EXPECT_EQ(house.asked[0].verb, "get");
  EXPECT_EQ(house.asked[0].resource.resource, "clusterqueues");
  EXPECT_EQ(house.asked[0].subresource, "pendingworkloads");
  EXPECT_EQ(house.asked[0].name, "cq");
  EXPECT_EQ(house.asked[3].resource.version, "v1beta1");
  EXPECT_EQ(house.asked[3].resource.resource, "localqueues");
  EXPECT_EQ(house.asked[3].ns, "team");
}

TEST(Visibility, SaysWhatIsWrongWithAQuestion) {
  House house;
  const auto expect = [&](const std::string& target, int code, const std::string& message,
                          const std::string& method = "GET") {
    const auto response = house.call(target, method);
    EXPECT_EQ(response.status, code) << target;
    EXPECT_THAT(response.body, HasSubstr(message)) << target;
  };
  expect(kCq + "?limit=many", 400, R"(limit=\"many\": expected a whole number)");
  expect(kGroupPath + "/v1beta2/clusterqueues/other/pendingworkloads", 404,
         R"(clusterqueue.visibility.kueue.x-k8s.io \"other\" not found)");
  expect(kGroupPath + "/v1beta2/namespaces/team/localqueues/other/pendingworkloads", 404,
         R"(localqueue.visibility.kueue.x-k8s.io \"other\" not found)");
  expect(kGroupPath + "/v1beta2/clusterqueues", 404, "the server could not find the requested resource");
  expect(kGroupPath + "/v1beta2/clusterqueues/cq", 404, "the server could not find the requested resource");
  expect(kGroupPath + "/v1/clusterqueues/cq/pendingworkloads", 404, "page not found");
  expect("/apis/kueue.x-k8s.io", 404, "page not found");
  expect("/", 404, "page not found");
  expect(kCq, 405, "MethodNotAllowed", "POST");
  expect(kGroupPath, 405, "MethodNotAllowed", "DELETE");
  expect("/%zz", 400, "percent escape");
}

TEST(Visibility, LetsNobodyPassTheGate) {
  House house;
  house.refusal = http::plain_text(403, "not you");
  for (const std::string& target : {kCq, kGroupPath, std::string("/apis"), std::string("/openapi/v2")}) {
    const auto response = house.call(target);
    EXPECT_EQ(response.status, 403) << target;
    EXPECT_THAT(response.body, HasSubstr("not you"));
  }
  EXPECT_EQ(house.asked.at(1).path, kGroupPath);
  EXPECT_EQ(house.asked.at(1).resource.resource, "");
}

TEST(Visibility, ReportsItsHealthToEverybody) {
  House house;
  house.refusal = http::plain_text(401, "who?");
  house.missing = "incomplete";
  EXPECT_EQ(house.call("/healthz").status, 200);
  EXPECT_EQ(house.call("/livez").status, 200);
  EXPECT_EQ(house.call("/readyz").status, 500);
  EXPECT_THAT(house.call("/readyz").body, HasSubstr("[-]caches failed: incomplete"));
  house.missing.clear();
  EXPECT_EQ(house.call("/readyz").status, 200);
  EXPECT_TRUE(house.asked.empty());
}

TEST(Visibility, ServesWhatTheAggregationLayerAsksFor) {
  House house;
  const auto document = [&](const std::string& target, const std::string& accept = "application/json") {
    const auto response = house.call(target, "GET", accept);
    EXPECT_EQ(response.status, 200) << target;
    return parse_json(response.body).value();
  };
  EXPECT_EQ(string_at(document("/apis"), {"kind"}), "APIGroupList");
  EXPECT_EQ(string_at(document(kGroupPath), {"kind"}), "APIGroup");
  EXPECT_EQ(string_at(document(kGroupPath + "/v1beta1"), {"groupVersion"}), "visibility.kueue.x-k8s.io/v1beta1");
  const std::string v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const std::string v2beta1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
  EXPECT_EQ(string_at(document("/apis", v2 + "," + v2beta1 + ",application/json"), {"apiVersion"}),
            "apidiscovery.k8s.io/v2");
  EXPECT_EQ(string_at(document("/apis", v2beta1 + "," + v2), {"apiVersion"}), "apidiscovery.k8s.io/v2");
  EXPECT_EQ(string_at(document("/apis", v2beta1), {"apiVersion"}), "apidiscovery.k8s.io/v2beta1");
  EXPECT_EQ(house.call("/apis", "GET", v2).header("Content-Type"), v2);
  EXPECT_EQ(string_at(document("/openapi/v2"), {"swagger"}), "2.0");
  const Json index = document("/openapi/v3");
  ASSERT_EQ(object_at(index, {"paths"}).size(), 2u);
  for (const auto& [path, place] : object_at(index, {"paths"}))
    EXPECT_EQ(string_at(document(std::string(string_at(place, {"serverRelativeURL"}))), {"openapi"}), "3.0.0");
}

// The gate may answer later; the client may have disconnected meanwhile.
TEST(Visibility, WaitsForTheGateAndForgetsWhoLeft) {
  std::vector<std::function<void(std::optional<http::HttpResponse>)>> waiting;
  VisibilityHandler handler(three_wait(),
                            [&](const auto&, const auto&, auto done) { waiting.push_back(std::move(done)); }, {});
  const auto ask = [&](const std::shared_ptr<KeepingSink>& sink) {
    return handler.execute(handler.parse(request_of("GET", kCq)), sink);
  };
  auto stays = std::make_shared<KeepingSink>(), leaves = std::make_shared<KeepingSink>();
  const auto first = ask(stays);
  auto second = ask(leaves);
  EXPECT_FALSE(stays->response);
  second.reset();
  for (const auto& done : waiting) done(std::nullopt);
  ASSERT_TRUE(stays->response);
  EXPECT_EQ(stays->response->status, 200);
  EXPECT_FALSE(leaves->response);
}

}  // namespace
}  // namespace berth::serve::visibility_test
