// What the router says about a request before its body is read.
#include <gtest/gtest.h>

#include "embedded/apiserver/http_fake.h"
#include "embedded/apiserver/router/parsed_request.h"

namespace berth::apiserver::http::verdict_test {
namespace {

class Verdict : public testing::Test {
 protected:
  Verdict() {
    RouterOptions options;
    options.seed = 1;
    options.tokens.add("t0ken", authenticated("bob", "u1", {"team-a"}));
    router_ = std::make_unique<Router>(core_, registry_, executor_, std::move(options));
  }

  static HttpRequest as_admin(std::string method, std::string target) {
    HttpRequest head;
    head.method = std::move(method);
    head.target = std::move(target);
    head.peer = {"admin", {"system:masters"}};
    return head;
  }
  static HttpRequest with(HttpRequest head, std::string name, std::string value) {
    head.headers.push_back({std::move(name), std::move(value)});
    return head;
  }

  VirtualExecutor executor_{Time{}};
  FakeCore core_{executor_};
  Registry registry_ = small_registry();
  std::unique_ptr<Router> router_;
};

// The head of a request is enough to refuse it.
TEST_F(Verdict, WhoMayNotSendABodyIsReportedBefore) {
  const auto verdict = [&](HttpRequest head) {
    const auto request = router_->parse(std::move(head));
    int status = 0;
    if (request->requests) router_->admit(*request, [&](const auto& no) { status = no ? no->status : 0; });
    return status;
  };
  HttpRequest create = as_admin("POST", "/api/v1/namespaces/x/configmaps");
  EXPECT_EQ(verdict(create), 0);
  EXPECT_EQ(verdict(with(create, "Impersonate-User", "bob")), 403) << "bob may not";
  create.peer_error = "expired";
  EXPECT_EQ(verdict(create), 401);
  HttpRequest stranger;
  stranger.method = "POST";
  stranger.target = "/api/v1/namespaces/x/configmaps";
  EXPECT_EQ(verdict(stranger), 403);
  EXPECT_EQ(verdict(with(stranger, "Authorization", "Bearer t0ken")), 403);
  EXPECT_EQ(verdict(with(stranger, "Authorization", "Bearer wrong")), 401);
  EXPECT_EQ(verdict(with(stranger, "Authorization", "Basic x")), 401);
  stranger.target = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  EXPECT_EQ(verdict(with(stranger, "Authorization", "Bearer t0ken")), 0);
  stranger.target = "/version";
  EXPECT_EQ(verdict(stranger), 403);
  stranger.target = "/api/../x";
  EXPECT_EQ(verdict(stranger), 400);
}

TEST_F(Verdict, OnlyAnonymousClientsAreStrangers) {
  const auto known = [&](HttpRequest head) { return router_->parse(std::move(head))->known; };
  HttpRequest stranger;
  stranger.method = "GET";
  stranger.target = "/version";
  EXPECT_FALSE(known(stranger));
  EXPECT_FALSE(known(with(stranger, "Authorization", "Bearer wrong")));
  EXPECT_TRUE(known(with(stranger, "Authorization", "Bearer t0ken")));
  EXPECT_TRUE(known(as_admin("GET", "/version")));
}

// The body is decoded when the verdict is known, and only for what reads one.
TEST_F(Verdict, TheBodyIsDecodedAfterIt) {
  const auto decoded = [&](HttpRequest head) {
    const auto request = router_->parse(std::move(head));
    auto& in = static_cast<ParsedRequest&>(*request);
    EXPECT_TRUE(in.body.value.is_null());
    in.http.body = R"({"a":1})";
    router_->decode(in);
    return !in.body.value.is_null();
  };
  EXPECT_TRUE(decoded(as_admin("POST", "/api/v1/namespaces/x/configmaps")));
  EXPECT_TRUE(decoded(as_admin("DELETE", "/api/v1/namespaces/x/configmaps/a")));
  EXPECT_FALSE(decoded(as_admin("GET", "/api/v1/namespaces/x/configmaps/a")));
  EXPECT_FALSE(decoded(as_admin("POST", "/version")));
}

}  // namespace
}  // namespace berth::apiserver::http::verdict_test
