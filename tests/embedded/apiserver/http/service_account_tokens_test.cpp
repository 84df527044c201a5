// Service account tokens: issued by TokenRequest, verified for requests and by TokenReview.
#include "embedded/apiserver/http/service_account_tokens.h"

#include <gtest/gtest.h>

#include "api/status.h"
#include "base/base64.h"
#include "embedded/apiserver/builtin/support.h"
#include "embedded/apiserver/http/token_requests.h"
#include "embedded/apiserver/http_fake.h"
#include "embedded/apiserver/router/router.h"
#include "http/certificates.h"

namespace berth::apiserver::http::service_account_tokens_test {
namespace {

const Time kStart = parse_time("2026-11-21T09:00:00.7Z").value();

class ServiceAccountTokens : public testing::Test {
 protected:
  ServiceAccountTokens() {
    world.add("serviceaccounts", R"({"metadata":{"name":"s","namespace":"n","uid":"u-s"}})");
    world.add("pods", R"({"metadata":{"name":"p","namespace":"n","uid":"u-p"},"spec":{"serviceAccountName":"s"}})");
    world.add("pods", R"({"metadata":{"name":"other","namespace":"n","uid":"u-o"},"spec":{"serviceAccountName":"t"}})");
    world.add("secrets", R"({"metadata":{"name":"c","namespace":"n","uid":"u-c"}})");
    world.add("nodes", R"({"metadata":{"name":"n1","uid":"u-n"}})");
  }
  api::RestResponse request(std::string_view spec, std::string_view metadata = "{}") {
    const std::string body = R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","metadata":)" +
                             std::string(metadata) + R"(,"spec":)" + std::string(spec) + "}";
    return answer_token_request(parse_json(body).value(), {signer, objects, "n", account, "id-1", kStart});
  }
  std::string token(std::string_view spec = "{}") {
    const auto answer = request(spec);
    EXPECT_EQ(answer.code, 201) << to_string(answer.body);
    return std::string(string_at(answer.body, {"status", "token"}));
  }
  // The identity of a token at a time, or the error.
  Result<Identity> who(const std::string& token, Time at = kStart, const std::string& audience = std::string(kIssuer)) {
    const auto claims = signer.recognise(token);
    if (!claims) return fail("not recognised");
    return identity_of(*claims, {audience}, objects, at);
  }
  std::string why_not(const std::string& token, Time at = kStart, const std::string& audience = std::string(kIssuer)) {
    const auto known = who(token, at, audience);
    return known ? "" : known.error().message;
  }

  World world;
  Lookup objects = world.lookup();
  const std::string key = berth::http::make_key().value();
  TokenSigner signer = TokenSigner::with_key(key).value();
  std::string account = "s";
};

TEST_F(ServiceAccountTokens, SayForWhomAndUntilWhen) {
  const auto answer = request("{}");
  ASSERT_EQ(answer.code, 201) << to_string(answer.body);
  EXPECT_EQ(string_at(answer.body, {"kind"}), "TokenRequest");
  EXPECT_EQ(string_at(answer.body, {"metadata", "name"}), "s");
  EXPECT_EQ(string_at(answer.body, {"metadata", "namespace"}), "n");
  EXPECT_EQ(to_string(*find(answer.body, "spec")),
            R"({"audiences":["https://kubernetes.default.svc"],"expirationSeconds":3600,"boundObjectRef":null})");
  EXPECT_EQ(string_at(answer.body, {"status", "expirationTimestamp"}), "2026-11-21T10:00:00Z");
  const std::string token(string_at(answer.body, {"status", "token"}));
  const std::string payload =
      base64url_decode(token.substr(token.find('.') + 1, token.rfind('.') - token.find('.') - 1)).value();
  EXPECT_EQ(payload,
            R"({"aud":["https://kubernetes.default.svc"],"exp":1795255200,"iat":1795251600,)"
            R"("iss":"https://kubernetes.default.svc","jti":"id-1","kubernetes.io":{"namespace":"n","serviceaccount":)"
            R"({"name":"s","uid":"u-s"}},"nbf":1795251600,"sub":"system:serviceaccount:n:s"})");
  const auto known = who(token);
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(known->user.name, "system:serviceaccount:n:s");
  EXPECT_EQ(known->uid, "u-s");
  EXPECT_EQ(known->user.groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated"}));
  EXPECT_EQ(known->extra.at("authentication.kubernetes.io/credential-id"), std::vector<std::string>{"JTI=id-1"});
}

TEST_F(ServiceAccountTokens, EndAndAreMeantForSomebody) {
  const std::string short_one = token(R"({"expirationSeconds":600,"audiences":["vault","db"]})");
  const Time end = to_seconds(kStart) + std::chrono::minutes(10);
  EXPECT_EQ(why_not(short_one, end - std::chrono::seconds(1), "db"), "");
  EXPECT_EQ(why_not(short_one, end, "db"), "the token has expired");
  EXPECT_EQ(why_not(short_one), "the token is meant for another audience");
  EXPECT_EQ(why_not(short_one, kStart - std::chrono::minutes(2), "db"), "the token is not valid yet");
}

TEST_F(ServiceAccountTokens, HoldAsLongAsTheAccountDoes) {
  const std::string made = token();
  world.remove("serviceaccounts", "n", "s");
  EXPECT_EQ(why_not(made), "the ServiceAccount n/s of the token does not exist any more");
  world.add("serviceaccounts", R"({"metadata":{"name":"s","namespace":"n","uid":"another"}})");
  EXPECT_EQ(why_not(made), "the ServiceAccount n/s of the token has been replaced by another one");
  world.remove("serviceaccounts", "n", "s");
  world.add("serviceaccounts",
            R"({"metadata":{"name":"s","namespace":"n","uid":"u-s","deletionTimestamp":"2026-11-21T09:00:00Z"}})");
  EXPECT_EQ(why_not(made), "") << "clocks may differ by a minute";
  EXPECT_EQ(why_not(made, kStart + std::chrono::minutes(2)), "the ServiceAccount n/s of the token is being deleted");
}

TEST_F(ServiceAccountTokens, AreBoundToObjects) {
  const std::string pod = token(R"({"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u-p"}})");
  const std::string secret = token(R"({"boundObjectRef":{"apiVersion":"v1","kind":"Secret","name":"c"}})");
  const std::string node = token(R"({"boundObjectRef":{"apiVersion":"v1","kind":"Node","name":"n1"}})");
  ASSERT_TRUE(who(pod));
  EXPECT_EQ(who(pod)->extra.at("authentication.kubernetes.io/pod-uid"), std::vector<std::string>{"u-p"});
  EXPECT_TRUE(who(secret));
  EXPECT_EQ(who(node)->extra.at("authentication.kubernetes.io/node-name"), std::vector<std::string>{"n1"});
  world.remove("pods", "n", "p");
  world.remove("secrets", "n", "c");
  world.remove("nodes", "", "n1");
  EXPECT_EQ(why_not(pod), "the Pod n/p of the token does not exist any more");
  EXPECT_EQ(why_not(secret), "the Secret n/c of the token does not exist any more");
  EXPECT_EQ(why_not(node), "the Node n1 of the token does not exist any more");
}

TEST_F(ServiceAccountTokens, BadRequestsAreRefusedAsTheApiServerDoes) {
  const struct {
    std::string_view spec, metadata;
    int code;
    std::string_view message;
  } cases[] = {
      {R"({"expirationSeconds":599})", "{}", 422, "may not specify a duration less than 10 minutes"},
      {R"({"expirationSeconds":4294967297})", "{}", 422, "may not specify a duration larger than 2^32 seconds"},
      {"{}", R"({"name":"t"})", 422, "must match the service account name if specified"},
      {"{}", R"({"namespace":"m"})", 422, "must match the service account namespace if specified"},
      {R"({"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":"none"}})", "{}", 404, "pods \"none\" not found"},
      {R"({"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":"other"}})", "{}", 400,
       "cannot bind token for serviceaccount \"s\" to pod running with different serviceaccount name."},
      {R"({"boundObjectRef":{"apiVersion":"v1","kind":"Secret","name":"c","uid":"x"}})", "{}", 409,
       "does not match the UID in record"},
      {R"({"boundObjectRef":{"apiVersion":"v1","kind":"ConfigMap","name":"c"}})", "{}", 400,
       "cannot bind token to object of type"},
      {R"({"audiences":[1]})", "{}", 400, "spec.audiences: expected texts"},
  };
  for (const auto& c : cases) {
    const auto answer = request(c.spec, c.metadata);
    EXPECT_EQ(answer.code, c.code) << c.spec << to_string(answer.body);
    EXPECT_NE(api::status_message(answer).find(c.message), std::string_view::npos) << to_string(answer.body);
  }
  account = "nobody";
  EXPECT_EQ(request("{}").code, 404);
  EXPECT_EQ(answer_token_request(parse_json(R"({"kind":"Pod","apiVersion":"v1"})").value(),
                                 {signer, objects, "n", "s", "i", kStart})
                .code,
            400);
  EXPECT_EQ(answer_token_request(parse_json("{}").value(), {signer, objects, "n", "s", "i", kStart}).code, 201);
  EXPECT_EQ(request(R"({"expirationSeconds":4294967296})").code, 404);
}

TEST_F(ServiceAccountTokens, OthersAreNotRecognised) {
  const std::string good = token();
  // Valid: the same key, as after a restart. Invalid: another key.
  EXPECT_TRUE(TokenSigner::with_key(key)->recognise(good));
  EXPECT_FALSE(TokenSigner::with_key(berth::http::make_key().value())->recognise(good));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = bad[i] == 'A' ? 'B' : 'A';
    // The last character of a part contains unused bits, so changing it may have no effect.
    const bool meaningless = i + 1 == good.size() || good[i + 1] == '.';
    EXPECT_TRUE(meaningless || !signer.recognise(bad)) << i;
  }
  const std::string none = base64url_encode(R"({"alg":"none","kid":"x"})");
  for (const std::string& bad :
       {std::string(), std::string("."), std::string(".."), std::string("a.b.c"), good + ".x",
        good.substr(0, good.rfind('.') + 1), none + good.substr(good.find('.')), std::string(100'000, 'a')})
    EXPECT_FALSE(signer.recognise(bad));
  EXPECT_FALSE(TokenSigner::with_key("no key"));
  EXPECT_FALSE(TokenSigner::with_key(""));
}

// --- Through requests.

class ServiceAccountRequests : public ServiceAccountTokens {
 protected:
  ServiceAccountRequests() {
    auto accounts = std::make_shared<ResourceInfo>();
    accounts->gvr = {"", "v1", "serviceaccounts"};
    accounts->kind = "ServiceAccount";
    accounts->extra_subresources = {"token"};
    registry.add(accounts);
    RouterOptions options;
    options.signer = signer;
    options.objects = objects;
    options.tokens.add("bob's", authenticated("bob", "", {}));
    router = std::make_unique<Router>(core, registry, executor, std::move(options));
  }
  HttpResponse send(const std::string& method, const std::string& target, const std::string& body,
                    const std::string& token = "") {
    HttpRequest r;
    r.method = method;
    r.target = target;
    r.body = body;
    r.headers = {{"Content-Type", "application/json"}};
    if (token.empty()) {
      r.peer = {"admin", {"system:masters"}};
    } else {
      r.headers.push_back({"Authorization", "Bearer " + token});
    }
    auto sink = std::make_shared<KeepingSink>();
    const auto exchange = router->handle(std::move(r), sink);
    executor.run_ready(100);
    EXPECT_TRUE(sink->answered);
    return sink->response;
  }

  VirtualExecutor executor{kStart};
  FakeCore core{executor};
  Registry registry = small_registry();
  std::unique_ptr<Router> router;
};

TEST_F(ServiceAccountRequests, MakeAndShowTokens) {
  const std::string path = "/api/v1/namespaces/n/serviceaccounts/s/token",
                    who = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const std::string body = R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}})";
  const HttpResponse made = send("POST", path, body);
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string token(string_at(parse_json(made.body).value(), {"status", "token"}));
  EXPECT_NE(string_at(parse_json(send("POST", path, body).body).value(), {"status", "token"}), token)
      << "each is another one";
  const HttpResponse known = send("POST", who, "{}", token);
  EXPECT_EQ(known.status, 201) << known.body;
  EXPECT_EQ(string_at(parse_json(known.body).value(), {"status", "userInfo", "username"}), "system:serviceaccount:n:s");
  EXPECT_NE(known.body.find("credential-id"), std::string::npos);

  const auto review = [&](const std::string& audiences) {
    return parse_json(send("POST", "/apis/authentication.k8s.io/v1/tokenreviews",
                           R"({"spec":{"token":")" + token + R"(","audiences":)" + audiences + "}}")
                          .body)
        .value();
  };
  EXPECT_TRUE(bool_at(review("[]"), {"status", "authenticated"}));
  EXPECT_FALSE(bool_at(review(R"(["vault"])"), {"status", "authenticated"}));
  EXPECT_EQ(string_at(review(R"(["vault"])"), {"status", "error"}),
            "[invalid bearer token, the token is meant for another audience]");

  EXPECT_EQ(send("POST", path, body, "bob's").status, 403);
  const HttpResponse read = send("GET", path, "");
  EXPECT_EQ(read.status, 405);
  EXPECT_EQ(read.header("Allow"), "POST");
  EXPECT_EQ(send("POST", path, "{").status, 400);
  EXPECT_EQ(send("POST", "/api/v1/namespaces/n/serviceaccounts/none/token", body).status, 404);
  executor.run_until(kStart + std::chrono::minutes(61));
  EXPECT_EQ(send("POST", who, "{}", token).status, 401) << "it has expired";
}

TEST_F(ServiceAccountRequests, EndWithTheAccount) {
  const std::string who = "/apis/authentication.k8s.io/v1/selfsubjectreviews", made = token();
  EXPECT_EQ(send("POST", who, "{}", made).status, 201);
  world.remove("serviceaccounts", "n", "s");
  EXPECT_EQ(send("POST", who, "{}", made).status, 401);
}

}  // namespace
}  // namespace berth::apiserver::http::service_account_tokens_test
