// An API group of another component, listed with the server's own groups.
#include "embedded/apiserver/discovery/virtual_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "embedded/apiserver/http_fake.h"

namespace berth::apiserver::http::virtual_group_test {
namespace {

using testing::HasSubstr;

discovery::VirtualGroup greetings() {
  discovery::VirtualGroup group;
  group.group = "greetings.example.com";
  group.versions = {"v2", "v1"};
  group.entry = JsonObject{{"name", group.group}};
  group.aggregated = JsonObject{{"metadata", JsonObject{{"name", group.group}}}};
  group.resources = [](std::string_view version) {
    return Json(JsonObject{{"kind", "APIResourceList"}, {"of", version}});
  };
  group.openapi_v3 = [](std::string_view version) { return Json(JsonObject{{"openapi", "3.0.0"}, {"of", version}}); };
  group.openapi_v2 = JsonObject{{"paths", JsonObject{{"/hello", JsonObject()}}},
                                {"definitions", JsonObject{{"com.example.Greeting", JsonObject()}}}};
  group.answer = [](std::string_view method, const Target& target, std::string_view) {
    return [text = std::string(method) + " " + target.path] { return plain_text(200, text); };
  };
  return group;
}

class VirtualGroupTest : public testing::Test {
 protected:
  VirtualGroupTest() {
    RouterOptions options;
    options.seed = 1;
    options.tokens.add("t0ken", authenticated("bob", "u1", {"team-a"}));
    options.discovery.virtual_groups.push_back(greetings());
    router_ = std::make_unique<Router>(core_, registry_, executor_, std::move(options));
  }

  HttpResponse send(std::string target, std::string accept = "application/json", bool admin = true) {
    HttpRequest request;
    request.method = "GET";
    request.target = std::move(target);
    request.headers.push_back({"Accept", std::move(accept)});
    if (admin) {
      request.peer = {"admin", {"system:masters"}};
    } else {
      request.headers.push_back({"Authorization", "Bearer t0ken"});
    }
    auto sink = std::make_shared<KeepingSink>();
    const auto exchange = router_->handle(std::move(request), sink);
    executor_.run_ready(100);
    EXPECT_TRUE(sink->answered);
    return sink->response;
  }

  VirtualExecutor executor_{parse_time("2026-01-01T00:00:00Z").value()};
  FakeCore core_{executor_};
  Registry registry_ = small_registry();
  std::unique_ptr<Router> router_;
};

TEST_F(VirtualGroupTest, AnswersWhoMayAsk) {
  const std::string path = "/apis/greetings.example.com/v1/namespaces/x/people/bob/greeting";
  const HttpResponse answer = send(path + "?loud=true");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "GET " + path);
  EXPECT_NE(answer.header("Audit-Id"), "");
  EXPECT_EQ(send(path, "application/json", false).status, 403);
  EXPECT_TRUE(core_.requests.empty());
}

TEST_F(VirtualGroupTest, IsDiscovered) {
  EXPECT_THAT(send("/").body, HasSubstr("\"/apis/greetings.example.com/v2\""));
  const HttpResponse groups = send("/apis");
  EXPECT_THAT(groups.body, HasSubstr(R"({"name":"greetings.example.com"})"));
  EXPECT_THAT(groups.body, HasSubstr("kueue.x-k8s.io"));
  EXPECT_THAT(send("/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList").body,
              HasSubstr(R"({"metadata":{"name":"greetings.example.com"}})"));
  EXPECT_EQ(send("/apis/greetings.example.com").body,
            R"({"kind":"APIGroup","apiVersion":"v1","name":"greetings.example.com"})"
            "\n");
  EXPECT_THAT(send("/apis/greetings.example.com/v1").body, HasSubstr(R"("of":"v1")"));
  EXPECT_EQ(send("/apis/greetings.example.com/v3").status, 404);
}

TEST_F(VirtualGroupTest, IsPartOfOpenApi) {
  const std::string v2 = send("/openapi/v2").body;
  EXPECT_THAT(v2, HasSubstr("com.example.Greeting"));
  EXPECT_THAT(v2, HasSubstr("io.x-k8s.kueue.v1beta2.ClusterQueue"));
  const std::string index = send("/openapi/v3").body;
  EXPECT_THAT(index, HasSubstr("\"apis/greetings.example.com/v2\":{\"serverRelativeURL\":"));
  EXPECT_THAT(send("/openapi/v3/apis/greetings.example.com/v2").body, HasSubstr(R"("of":"v2")"));
  EXPECT_EQ(send("/openapi/v3/apis/greetings.example.com/v3").status, 404);
}

}  // namespace
}  // namespace berth::apiserver::http::virtual_group_test
