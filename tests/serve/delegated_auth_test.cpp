#include "serve/delegated_auth.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "kube/fake_rest_client.h"
#include "serve/keeping_sink.h"
#include "serve/metrics_endpoint.h"

namespace berth::serve::delegated_auth_test {
namespace {

const Time kStart = parse_time("2026-11-21T09:00:00Z").value();

Json reviewed(std::string_view user) {
  return JsonObject{
      {"status", JsonObject{{"authenticated", true},
                            {"user", JsonObject{{"username", user},
                                                {"uid", "7"},
                                                {"groups", JsonArray{"research"}},
                                                {"extra", JsonObject{{"scopes", JsonArray{"a", "b"}}}}}}}}};
}
Json decision(bool allowed) { return JsonObject{{"status", JsonObject{{"allowed", allowed}}}}; }

// The subject as a connection presents it: that of the first certificate, which is the client's own.
http::CertificateSubject shown(const http::Credential& credential) {
  BIO* text = BIO_new_mem_buf(credential.certificate.data(), static_cast<int>(credential.certificate.size()));
  X509* certificate = PEM_read_bio_X509(text, nullptr, nullptr, nullptr);
  auto subject = http::read_subject(certificate);
  X509_free(certificate);
  BIO_free(text);
  return subject;
}

class DelegatedAuthTest : public testing::Test {
 protected:
  using Identified = tl::expected<Caller, http::HttpResponse>;

  static http::HttpRequest with_token(const std::string& token) {
    return request_of("GET", "/metrics", "", {{"Authorization", "Bearer " + token}});
  }
  // The result for a request; nullopt: there is none yet.
  std::shared_ptr<std::optional<Identified>> authenticate(const http::HttpRequest& request) {
    auto out = std::make_shared<std::optional<Identified>>();
    auth.authenticate(request, [out](Identified caller) { *out = std::move(caller); });
    return out;
  }
  int status(const std::shared_ptr<std::optional<Identified>>& out) {
    if (!*out) return 0;
    return **out ? 200 : (**out).error().status;
  }
  std::shared_ptr<int> authorize(const std::string& user, const std::string& path) {
    auto out = std::make_shared<int>(0);
    AccessAttributes attributes;
    attributes.verb = "get";
    attributes.path = path;
    auth.authorize({{user, {}}, {}, {}}, attributes,
                   [out](std::optional<http::HttpResponse> refusal) { *out = refusal ? refusal->status : 200; });
    return out;
  }
  void trust(const std::string& names = R"(["front-proxy"])", const std::string& user_authority = "") {
    auth.start([this](const std::string& pem) { authorities = pem; });
    EXPECT_FALSE(auth.synced());
    const auto request = client.answer(
        {200,
         JsonObject{{"data", JsonObject{{"requestheader-client-ca-file", proxies.certificate},
                                        {"client-ca-file", user_authority},
                                        {"requestheader-allowed-names", names},
                                        {"requestheader-username-headers", R"(["X-Remote-User"])"},
                                        {"requestheader-group-headers", R"(["X-Remote-Group"])"},
                                        {"requestheader-extra-headers-prefix", R"(["X-Remote-Extra-"])"}}}},
         {}});
    EXPECT_EQ(request.ns + "/" + request.name, "kube-system/extension-apiserver-authentication");
    EXPECT_TRUE(auth.synced());
  }
  http::HttpRequest proxied(const std::string& proxy) { return proxied(proxy, proxies); }
  static http::HttpRequest proxied(const std::string& proxy, const http::Credential& authority) {
    auto request = request_of("GET", "/apis", "",
                              {{"x-remote-user", "bob"},
                               {"X-Remote-Group", "a"},
                               {"x-remote-group", "b"},
                               {"X-Remote-Extra-Example.com%2FScopes", "s"}});
    request.peer = shown(http::make_client_credential(authority, proxy, {}, kStart).value());
    return request;
  }
  static http::HttpRequest with_certificate(const http::Credential& authority, const std::string& user,
                                            const std::vector<std::string>& groups, Time made = kStart) {
    auto request = request_of("GET", "/metrics");
    request.peer = shown(http::make_client_credential(authority, user, groups, made).value());
    return request;
  }
  void pass(Duration d) { executor.run_until(executor.now() + d); }

  VirtualExecutor executor{kStart};
  kube::FakeRestClient client{executor};
  DelegatedAuth auth{client, executor};
  std::string authorities = "not said";
  const http::Credential proxies = http::make_authority("front-proxy-ca", kStart).value();
  const http::Credential users = http::make_authority("kubernetes", kStart).value();
};

TEST_F(DelegatedAuthTest, TokensAreReviewedOnceForAWhile) {
  const auto first = authenticate(with_token("t")), second = authenticate(with_token("t"));
  EXPECT_EQ(status(first), 0);
  ASSERT_EQ(client.calls.size(), 1u) << "one question for both";
  const auto request = client.answer({201, reviewed("alice"), {}});
  EXPECT_EQ(request.resource.resource, "tokenreviews");
  EXPECT_EQ(string_at(request.body, {"spec", "token"}), "t");
  ASSERT_EQ(status(first), 200);
  EXPECT_EQ(status(second), 200);
  const Caller& caller = ***first;
  EXPECT_EQ(caller.user.name, "alice");
  EXPECT_EQ(caller.uid, "7");
  EXPECT_EQ(caller.user.groups, (std::vector<std::string>{"research", "system:authenticated"}));
  EXPECT_EQ(caller.extra.at("scopes"), (std::vector<std::string>{"a", "b"}));

  pass(std::chrono::seconds(119));
  EXPECT_EQ(status(authenticate(with_token("t"))), 200);
  EXPECT_TRUE(client.calls.empty());
  EXPECT_EQ(status(authenticate(with_token("other"))), 0);
  pass(std::chrono::seconds(1));
  EXPECT_EQ(status(authenticate(with_token("t"))), 0);
  EXPECT_EQ(client.calls.size(), 2u);
}

TEST_F(DelegatedAuthTest, TokensMayBeForOneAudienceOnly) {
  DelegatedAuthOptions options;
  options.audiences = {"console"};
  DelegatedAuth picky(client, executor, options);
  const auto reviewed_for = [&](const std::string& token, const Json& audiences) {
    int code = 0;
    picky.authenticate(with_token(token),
                       [&](const Identified& caller) { code = caller ? 200 : caller.error().status; });
    Json review = reviewed("alice");
    review.as_object()["status"].as_object()["audiences"] = audiences;
    const auto request = client.answer({201, std::move(review), {}});
    EXPECT_EQ(to_string(*find_path(request.body, {"spec", "audiences"})), R"(["console"])");
    return code;
  };
  EXPECT_EQ(reviewed_for("a", JsonArray{"x", "console"}), 200);
  EXPECT_EQ(reviewed_for("b", JsonArray{"x"}), 401);
  EXPECT_EQ(reviewed_for("c", nullptr), 401) << "a server that does not know audiences";
}

TEST_F(DelegatedAuthTest, BadTokensAreRefusedAndSoonAskedAboutAgain) {
  const auto bad = authenticate(with_token("t"));
  client.answer({201, JsonObject{{"status", JsonObject{{"error", "expired"}}}}, {}});
  ASSERT_EQ(status(bad), 401);
  EXPECT_NE((**bad).error().body.find("expired"), std::string::npos);
  pass(std::chrono::seconds(9));
  EXPECT_EQ(status(authenticate(with_token("t"))), 401);
  pass(std::chrono::seconds(1));
  EXPECT_EQ(status(authenticate(with_token("t"))), 0);
}

TEST_F(DelegatedAuthTest, WhenNobodyCanBeAskedNobodyIsLetInAndNothingIsRemembered) {
  const auto token = authenticate(with_token("t"));
  client.answer({0, nullptr, {}});
  EXPECT_EQ(status(token), 503);
  EXPECT_EQ(status(authenticate(with_token("t"))), 0);
  const auto allowed = authorize("alice", "/metrics");
  EXPECT_EQ(client.calls.size(), 2u);
  client.answer({500, nullptr, {}});
  client.answer({500, nullptr, {}});
  EXPECT_EQ(*allowed, 503);
}

TEST_F(DelegatedAuthTest, QuestionsInFlightAreBounded) {
  for (std::size_t i = 0; i < kMaxQuestionsInFlight; ++i) (void)authenticate(with_token(std::to_string(i)));
  EXPECT_EQ(client.calls.size(), kMaxQuestionsInFlight);
  EXPECT_EQ(status(authenticate(with_token("one more"))), 503);
  EXPECT_EQ(*authorize("alice", "/metrics"), 503);
  EXPECT_EQ(status(authenticate(with_token("0"))), 0) << "waits with the first";
  client.answer({201, reviewed("alice"), {}});
  EXPECT_EQ(status(authenticate(with_token("one more"))), 0);
}

TEST_F(DelegatedAuthTest, WithoutCredentialsThereIsAnonymous) {
  const auto nobody = authenticate(request_of("GET", "/"));
  ASSERT_EQ(status(nobody), 200);
  EXPECT_EQ((***nobody).user.name, "system:anonymous");
  EXPECT_EQ((***nobody).user.groups, std::vector<std::string>{"system:unauthenticated"});
  EXPECT_EQ(status(authenticate(request_of("GET", "/", "", {{"Authorization", "Basic x"}}))), 401);
  DelegatedAuth strict(client, executor, {.anonymous = false});
  int refused = 0;
  strict.authenticate(request_of("GET", "/"),
                      [&](const Identified& caller) { refused = caller ? 0 : caller.error().status; });
  EXPECT_EQ(refused, 401);
}

TEST_F(DelegatedAuthTest, TheProxySpeaksForOthers) {
  trust();
  EXPECT_EQ(authorities, proxies.certificate);
  const auto bob = authenticate(proxied("front-proxy"));
  ASSERT_EQ(status(bob), 200);
  EXPECT_EQ((***bob).user.name, "bob");
  EXPECT_EQ((***bob).user.groups, (std::vector<std::string>{"a", "b", "system:authenticated"}));
  EXPECT_EQ((***bob).extra.at("example.com/scopes"), std::vector<std::string>{"s"});
  EXPECT_EQ(status(authenticate(proxied("mallory"))), 401);
}

TEST_F(DelegatedAuthTest, HeadersOfOthersAreNotBelieved) {
  const auto is_anonymous = [&](const http::HttpRequest& request) {
    return (***authenticate(request)).user.name == "system:anonymous";
  };
  EXPECT_EQ(status(authenticate(proxied("front-proxy"))), 401) << "the proxy is not known yet";
  trust("[]");
  EXPECT_EQ((***authenticate(proxied("anybody"))).user.name, "bob");
  auto without_certificate = proxied("front-proxy");
  without_certificate.peer.reset();
  EXPECT_TRUE(is_anonymous(without_certificate));
}

TEST_F(DelegatedAuthTest, UsersAreKnownByTheirCertificates) {
  trust(R"(["front-proxy"])", users.certificate);
  EXPECT_EQ(authorities, proxies.certificate + "\n" + users.certificate);
  const auto admin = authenticate(with_certificate(users, "kubernetes-admin", {"system:masters"}));
  ASSERT_EQ(status(admin), 200);
  EXPECT_EQ((***admin).user.name, "kubernetes-admin");
  EXPECT_EQ((***admin).user.groups, (std::vector<std::string>{"system:masters", "system:authenticated"}));
  EXPECT_TRUE(client.calls.empty()) << "nobody need be asked who that is";
  const auto refusal =
      authenticate(with_certificate(http::make_authority("mallory", kStart).value(), "a", {"system:masters"}));
  ASSERT_EQ(status(refusal), 401);
  EXPECT_NE((**refusal).error().body.find("no authority that is trusted now has signed it"), std::string::npos);
  const Time long_ago = kStart - std::chrono::hours(24 * 400);
  EXPECT_EQ(status(authenticate(with_certificate(users, "alice", {}, long_ago))), 401) << "it has expired";
}

// Otherwise a user with a certificate of the users' authority could act as any other user.
TEST_F(DelegatedAuthTest, AUserIsNoProxyWhateverItsNameAndHeaders) {
  trust(R"(["front-proxy"])", users.certificate);
  const auto caller = authenticate(proxied("front-proxy", users));
  ASSERT_EQ(status(caller), 200);
  EXPECT_EQ((***caller).user.name, "front-proxy") << "not bob";
  EXPECT_EQ((***caller).user.groups, std::vector<std::string>{"system:authenticated"});
  auto proxy_itself = proxied("front-proxy");
  std::erase_if(proxy_itself.headers, [](const http::Header& h) { return h.name == "x-remote-user"; });
  EXPECT_EQ((***authenticate(proxy_itself)).user.name, "system:anonymous") << "a proxy that names nobody";
}

TEST_F(DelegatedAuthTest, OneAuthorityMaySignForBoth) {
  trust(R"(["front-proxy"])", proxies.certificate);
  EXPECT_EQ(authorities, proxies.certificate);
  EXPECT_EQ((***authenticate(proxied("front-proxy"))).user.name, "bob");
  EXPECT_EQ((***authenticate(with_certificate(proxies, "alice", {"team"}))).user.name, "alice");
}

TEST_F(DelegatedAuthTest, ACertificateThatIsNotTrustedIsSaidToBe) {
  trust(R"(["front-proxy"])", users.certificate);
  auto request = request_of("GET", "/metrics");
  request.peer_error = "self-signed certificate";
  const auto refusal = authenticate(request);
  ASSERT_EQ(status(refusal), 401);
  EXPECT_NE((**refusal).error().body.find("self-signed certificate"), std::string::npos);
  auto with_both = with_token("t");
  with_both.peer_error = "self-signed certificate";
  EXPECT_EQ(status(authenticate(with_both)), 0) << "a token may be good all the same";
}

TEST_F(DelegatedAuthTest, TheProxysAuthorityIsReadAgain) {
  trust();
  pass(std::chrono::minutes(1));
  client.answer({500, nullptr, {}});
  EXPECT_EQ(authorities, proxies.certificate) << "kept while nobody can be asked";
  pass(std::chrono::minutes(1));
  client.answer({404, nullptr, {}});
  EXPECT_EQ(authorities, "");
}

TEST_F(DelegatedAuthTest, PermissionsAreAskedForAndKeptForAWhile) {
  const auto yes = authorize("alice", "/metrics"), again = authorize("alice", "/metrics"),
             no = authorize("alice", "/other");
  ASSERT_EQ(client.calls.size(), 2u);
  const auto request = client.answer({201, decision(true), {}});
  EXPECT_EQ(to_string(request.body.at("spec")),
            R"({"user":"alice","groups":[],"nonResourceAttributes":{"path":"/metrics","verb":"get"}})");
  client.answer({201, decision(false), {}});
  EXPECT_EQ(*yes, 200);
  EXPECT_EQ(*again, 200);
  EXPECT_EQ(*no, 403);
  pass(std::chrono::seconds(9));
  EXPECT_EQ(*authorize("alice", "/metrics"), 200);
  EXPECT_EQ(*authorize("alice", "/other"), 403);
  EXPECT_EQ(*authorize("bob", "/metrics"), 0) << "somebody else";
  pass(std::chrono::seconds(1));
  EXPECT_EQ(*authorize("alice", "/metrics"), 0);
}

TEST_F(DelegatedAuthTest, MastersMayDoEverything) {
  AccessAttributes attributes;
  attributes.verb = "list";
  attributes.resource = {"visibility.kueue.x-k8s.io", "v1beta2", "clusterqueues"};
  bool allowed = false;
  auth.authorize({{"root", {"system:masters"}}, {}, {}}, attributes,
                 [&](const std::optional<http::HttpResponse>& refusal) { allowed = !refusal; });
  EXPECT_TRUE(allowed);
  EXPECT_TRUE(client.calls.empty());
}

TEST_F(DelegatedAuthTest, ResourcesAreNamedInFull) {
  AccessAttributes attributes;
  attributes.verb = "get";
  attributes.resource = {"visibility.kueue.x-k8s.io", "v1beta2", "localqueues"};
  attributes.subresource = "pendingworkloads";
  attributes.ns = "a";
  attributes.name = "q";
  std::string body;
  auth.authorize({{"alice", {}}, {}, {}}, attributes,
                 [&](const std::optional<http::HttpResponse>& refusal) { body = refusal->body; });
  const auto request = client.answer({201, decision(false), {}});
  EXPECT_EQ(to_string(*find_path(request.body, {"spec", "resourceAttributes"})),
            R"({"verb":"get","group":"visibility.kueue.x-k8s.io","version":"v1beta2","resource":"localqueues",)"
            R"("subresource":"pendingworkloads","namespace":"a","name":"q"})");
  EXPECT_EQ(
      string_at(parse_json(body).value(), {"message"}),
      "localqueues is forbidden: User \"alice\" cannot get resource \"localqueues/pendingworkloads\" in API group "
      "\"visibility.kueue.x-k8s.io\" in the namespace \"a\"");
}

TEST_F(DelegatedAuthTest, AnAnswerThatComesAfterTheEndIsNotLookedAt) {
  auto gone = std::make_unique<DelegatedAuth>(client, executor);
  bool reported = false;
  gone->authenticate(with_token("t"), [&](const Identified&) { reported = true; });
  gone.reset();
  client.answer({201, reviewed("alice"), {}});
  EXPECT_FALSE(reported);
}

// --- Metrics behind DelegatedAuth.

TEST_F(DelegatedAuthTest, MetricsAreForThoseWhoMayReadThem) {
  DelegatedAuth strict(client, executor, {.anonymous = false});
  int refreshed = 0;
  MetricsHandler metrics({[&] { ++refreshed; }, [] { return std::string("up 1\n"); }}, &strict);
  EXPECT_EQ(ask(metrics, request_of("GET", "/metrics"))->response->status, 401);
  EXPECT_EQ(ask(metrics, request_of("GET", "/other"))->response->status, 404);
  EXPECT_EQ(ask(metrics, request_of("POST", "/metrics"))->response->status, 405);
  const auto scrape = ask(metrics, with_token("t"));
  client.answer({201, reviewed("prometheus"), {}});
  EXPECT_FALSE(scrape->response);
  client.answer({201, decision(true), {}});
  ASSERT_TRUE(scrape->response);
  EXPECT_EQ(scrape->response->status, 200);
  EXPECT_EQ(scrape->response->body, "up 1\n");
  EXPECT_EQ(scrape->response->header("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  const auto denied = ask(metrics, with_token("u"));
  client.answer({201, reviewed("somebody"), {}});
  client.answer({201, decision(false), {}});
  EXPECT_EQ(denied->response->status, 403);
  EXPECT_EQ(refreshed, 1) << "nothing is looked up for those who may not know";
}

}  // namespace
}  // namespace berth::serve::delegated_auth_test
