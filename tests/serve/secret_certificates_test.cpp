// Replicas that share a Secret, against the embedded API server in virtual time.
#include "serve/secret_certificates.h"
#include "api/resources.h"

#include <gtest/gtest.h>

#include <map>

#include "base/base64.h"
#include "base/random.h"
#include "embedded/apiserver/server/harness.h"

namespace berth::serve::secret_certificates_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr std::string_view kNs = "kueue-system";
constexpr std::string_view kSecret = "kueue-webhook-server-cert";

// A replica's connection to the API server: counts writes, and fails when the test wants it.
class Line final : public api::RestClient {
 public:
  Line(api::RestClient& server, Executor& executor) : server_(server), executor_(executor) {}

  std::map<std::string, int> writes;  // "patch apiservices" -> count
  std::function<std::optional<api::RestResponse>(const api::RestRequest&)> fault;

  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    if (auto failed = fault ? fault(request) : std::nullopt)
      return executor_.post([done = std::move(done), r = std::move(*failed)] { done(r); });
    if (request.verb == api::Verb::kCreate) ++writes["create " + request.resource.resource];
    if (request.verb == api::Verb::kUpdate) ++writes["update " + request.resource.resource];
    if (request.verb == api::Verb::kPatch) ++writes["patch " + request.resource.resource];
    server_.call(std::move(request), std::move(done));
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest, std::function<void(const api::WatchEvent&)>,
                                          std::function<void()>) override {
    return nullptr;
  }
  int total() const {
    int sum = 0;
    for (const auto& [what, count] : writes) sum += count;
    return sum;
  }

 private:
  api::RestClient& server_;
  Executor& executor_;
};

struct Replica {
  Replica(api::RestClient& server, Executor& executor, SecretCertificatesOptions options)
      : line(server, executor), certificates(line, executor, std::move(options)) {}
  Line line;
  SecretCertificates certificates;
  const std::string& leaf() const { return certificates.current()->certificate; }
};

class SecretCertificatesTest : public apiserver::ServerTest {
 protected:
  SecretCertificatesTest() : ServerTest({.seed = 7, .controllers = false}) {
    options.names = service_names({"webhook"}, std::string(kNs), "cluster.local");
    options.targets = {{"hooks"}, {"hooks"}, {"widgets.example.com", "plains.example.com"}, {"v1.example.com"}};
    ok(create(apiserver::kNamespaces, "", R"({"metadata":{"name":"kueue-system"}})"));
    const std::string hook = R"("clientConfig":{"service":{"name":"webhook","namespace":"kueue-system","path":"/x"}},)"
                             R"("sideEffects":"None","admissionReviewVersions":["v1"])";
    for (const auto& resource : {api::kMutatingWebhookConfigurations, api::kValidatingWebhookConfigurations}) {
      ok(create(resource, "",
                R"({"metadata":{"name":"hooks"},"webhooks":[{"name":"a.example.com",)" + hook +
                    R"(},{"name":"b.example.com",)" + hook + "}]}"));
    }
    ok(create(apiserver::kCrds, "",
              crd("widgets", R"({"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],)"
                             R"("clientConfig":{"service":{"name":"webhook","namespace":"kueue-system"}}}})")));
    ok(create(apiserver::kCrds, "", crd("plains", R"({"strategy":"None"})")));
    ok(create(
        api::kApiServices, "",
        R"({"metadata":{"name":"v1.example.com"},"spec":{"group":"example.com","version":"v1","groupPriorityMinimum":1,)"
        R"("versionPriority":1,"service":{"name":"webhook","namespace":"kueue-system"}}})"));
  }

  static void ok(const api::RestResponse& response) { ASSERT_TRUE(response.ok()) << response.body; }
  static std::string crd(const std::string& plural, const std::string& conversion) {
    return R"({"metadata":{"name":")" + plural +
           R"(.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":")" + plural +
           R"(","singular":"x)" + plural + R"(","kind":"K)" + plural + R"("},"conversion":)" + conversion +
           R"(,"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
  }

  Replica& start() {
    replicas.push_back(std::make_unique<Replica>(*server, executor, options));
    replicas.back()->certificates.start();
    return *replicas.back();
  }
  void pass(Duration d) { executor.run_until(executor.now() + d); }
  Json secret() { return get(api::kSecrets, kNs, kSecret).body; }
  ServingMaterial stored() { return read_material(secret()).value().value(); }

  // The caBundle of all targets; they must all be the same.
  std::string published() {
    std::vector<std::string> all;
    for (const auto& resource : {api::kMutatingWebhookConfigurations, api::kValidatingWebhookConfigurations}) {
      const Json hooks = get(resource, "", "hooks").body;
      for (const Json& hook : array_at(hooks, {"webhooks"}))
        all.emplace_back(string_at(hook, {"clientConfig", "caBundle"}));
    }
    all.emplace_back(string_at(get(apiserver::kCrds, "", "widgets.example.com").body,
                               {"spec", "conversion", "webhook", "clientConfig", "caBundle"}));
    all.emplace_back(string_at(get(api::kApiServices, "", "v1.example.com").body, {"spec", "caBundle"}));
    for (const std::string& one : all) EXPECT_EQ(one, all[0]);
    return base64_decode(all[0]).value();
  }
  // Whether a client that trusts `bundle` accepts the replica's certificate.
  bool serves(const Replica& replica, std::string_view bundle) const {
    while (!bundle.empty()) {
      const std::size_t end = std::min(bundle.find("-----BEGIN", 1), bundle.size());
      if (http::usable(*replica.certificates.current(), {std::string(bundle.substr(0, end)), {}}, options.names,
                       executor.now(), hours(0)))
        return true;
      bundle.remove_prefix(end);
    }
    return false;
  }

  SecretCertificatesOptions options;
  std::vector<std::unique_ptr<Replica>> replicas;
};

TEST_F(SecretCertificatesTest, TheFirstReplicaMakesThemTheOthersTakeThem) {
  Replica& first = start();
  EXPECT_FALSE(first.certificates.current());
  settle();
  ASSERT_TRUE(first.certificates.current());
  EXPECT_TRUE(first.certificates.published());
  EXPECT_EQ(first.certificates.problem(), "");
  EXPECT_TRUE(serves(first, published()));
  EXPECT_EQ(stored().leaf.certificate, first.leaf());
  Replica& second = start();
  settle();
  EXPECT_EQ(second.leaf(), first.leaf());
  EXPECT_EQ(second.line.total(), 0);
}

TEST_F(SecretCertificatesTest, TwoThatStartAtOnceAgree) {
  Replica& a = start();
  Replica& b = start();
  pass(std::chrono::seconds(10));
  ASSERT_TRUE(a.certificates.current());
  ASSERT_TRUE(b.certificates.current());
  EXPECT_EQ(a.leaf(), b.leaf());
  EXPECT_TRUE(serves(a, published()));
}

TEST_F(SecretCertificatesTest, AnEmptySecretOfTheManifestsIsFilled) {
  ok(create(api::kSecrets, kNs, R"({"metadata":{"name":"kueue-webhook-server-cert","labels":{"a":"b"}}})"));
  Replica& replica = start();
  settle();
  ASSERT_TRUE(replica.certificates.current());
  EXPECT_EQ(string_at(secret(), {"metadata", "labels", "a"}), "b");
}

TEST_F(SecretCertificatesTest, OnlyWhatDiffersIsWritten) {
  Replica& replica = start();
  settle();
  EXPECT_EQ(replica.line.writes, (std::map<std::string, int>{{"create secrets", 1},
                                                             {"patch mutatingwebhookconfigurations", 1},
                                                             {"patch validatingwebhookconfigurations", 1},
                                                             {"patch customresourcedefinitions", 1},
                                                             {"patch apiservices", 1}}));
  pass(hours(2));
  EXPECT_EQ(replica.line.total(), 5);
}

TEST_F(SecretCertificatesTest, WhatSomebodyResetIsRepaired) {
  Replica& replica = start();
  settle();
  ok(patch(api::kApiServices, "", "v1.example.com", R"({"spec":{"caBundle":null}})"));
  pass(options.republish + options.refresh);
  EXPECT_TRUE(serves(replica, published()));
  EXPECT_EQ(replica.line.writes["patch apiservices"], 2);
}

TEST_F(SecretCertificatesTest, ADeletedSecretIsPutBackAsItWas) {
  Replica& replica = start();
  settle();
  const ServingMaterial before = stored();
  ok(remove(api::kSecrets, kNs, kSecret));
  pass(minutes(2));
  EXPECT_EQ(stored(), before);
  ok(patch(api::kSecrets, kNs, kSecret, R"({"data":null})"));
  pass(minutes(2));
  EXPECT_EQ(stored(), before);
  EXPECT_EQ(replica.leaf(), before.leaf.certificate);
}

TEST_F(SecretCertificatesTest, ASecretOfAnotherShapeIsLeftAloneAndNamed) {
  ok(create(api::kSecrets, kNs,
            R"({"metadata":{"name":"kueue-webhook-server-cert"},"data":{"tls.crt":"LS0tLS1CRUdJTiBYCg=="}})"));
  Replica& replica = start();
  pass(minutes(5));
  EXPECT_FALSE(replica.certificates.current());
  EXPECT_EQ(replica.line.total(), 0);
  EXPECT_EQ(replica.certificates.problem().find(
                "Secret kueue-system/kueue-webhook-server-cert: data: ca.crt, ca.key, tls.key"),
            0u)
      << replica.certificates.problem();
  ok(remove(api::kSecrets, kNs, kSecret));
  pass(minutes(2));
  EXPECT_TRUE(replica.certificates.current());
  EXPECT_EQ(replica.certificates.problem(), "");
}

TEST_F(SecretCertificatesTest, WhatMayNotBeWrittenIsNamedAndTriedAgain) {
  Replica& replica = start();
  int refused = 0;
  replica.line.fault = [&](const api::RestRequest& request) -> std::optional<api::RestResponse> {
    if (request.resource != apiserver::kCrds || request.verb != api::Verb::kPatch) return std::nullopt;
    ++refused;
    return api::forbidden(request.resource, request.name, "no such rule");
  };
  pass(minutes(1));
  EXPECT_TRUE(replica.certificates.current());
  EXPECT_FALSE(replica.certificates.published());
  EXPECT_EQ(replica.certificates.problem(),
            "cannot change customresourcedefinitions.apiextensions.k8s.io widgets.example.com: "
            "customresourcedefinitions.apiextensions.k8s.io \"widgets.example.com\" is forbidden: no such rule");
  EXPECT_EQ(replica.line.writes["patch apiservices"], 1) << "the others are not kept waiting";
  EXPECT_GE(refused, 5);
  EXPECT_LE(refused, 10);
  replica.line.fault = nullptr;
  pass(minutes(2));
  EXPECT_TRUE(replica.certificates.published());
  EXPECT_EQ(replica.certificates.problem(), "");
}

TEST_F(SecretCertificatesTest, WhoeverChangesATargetAtTheSameMomentIsNotOverruled) {
  Replica& replica = start();
  int conflicts = 0;
  replica.line.fault = [&](const api::RestRequest& request) -> std::optional<api::RestResponse> {
    if (request.resource != apiserver::kCrds || request.verb != api::Verb::kPatch || ++conflicts > 2)
      return std::nullopt;
    EXPECT_NE(find_path(request.body, {"metadata", "resourceVersion"}), nullptr);
    return api::conflict(request.resource, request.name, "changed");
  };
  settle();
  EXPECT_TRUE(replica.certificates.published());
  EXPECT_EQ(replica.certificates.problem(), "");
  EXPECT_EQ(conflicts, 3);
}

TEST_F(SecretCertificatesTest, UnreadableSecretsAreTriedAgain) {
  Replica& replica = start();
  replica.line.fault = [](const api::RestRequest&) { return api::RestResponse{0, nullptr, {}}; };
  pass(minutes(1));
  EXPECT_EQ(replica.certificates.problem(), "cannot read Secret kueue-system/kueue-webhook-server-cert: no answer");
  replica.line.fault = nullptr;
  pass(minutes(1));
  EXPECT_TRUE(replica.certificates.current());
}

// Many rotations of authorities in a few days, with three replicas, one of which restarts now and then, and an API
// server that fails often: an authority that the API server trusted `settle` ago and trusts now always signed the
// certificate of each replica.
TEST_F(SecretCertificatesTest, RotationNeverLeavesAnybodyUntrusted) {
  options.lifetimes = {.authority = hours(30), .leaf = hours(8), .overlap = hours(3)};
  options.refresh = minutes(10);
  options.republish = minutes(30);
  options.settle = minutes(30);
  std::uint64_t random = 17;
  const auto faulty = [&](const api::RestRequest&) -> std::optional<api::RestResponse> {
    if (next_random(random) % 5 != 0) return std::nullopt;
    return api::RestResponse{next_random(random) % 2 == 0 ? 500 : 0, nullptr, {}};
  };
  const auto add = [&] { start().line.fault = faulty; };
  for (int i = 0; i < 3; ++i) add();
  pass(hours(1));
  std::string authority = stored().authority_key, learned = published();
  std::size_t rotations = 0, leaves = 0;
  std::string leaf = replicas[0]->leaf();
  for (int step = 0; step < 5 * 60; ++step) {
    pass(minutes(12));
    const std::string now_published =
        base64_decode(string_at(get(api::kApiServices, "", "v1.example.com").body, {"spec", "caBundle"})).value();
    for (const auto& replica : replicas) {
      if (!replica->certificates.current()) continue;  // just restarted
      ASSERT_TRUE(serves(*replica, now_published)) << "step " << step;
      ASSERT_TRUE(serves(*replica, learned)) << "step " << step << ": an API server that learned 12 minutes late";
    }
    learned = now_published;
    rotations += stored().authority_key != authority ? 1 : 0;
    authority = stored().authority_key;
    if (replicas[0]->certificates.current() && replicas[0]->leaf() != leaf) {
      ++leaves;
      leaf = replicas[0]->leaf();
    }
    if (step % 97 == 96) {
      replicas.erase(replicas.begin() + static_cast<std::ptrdiff_t>(next_random(random) % replicas.size()));
      add();
    }
  }
  EXPECT_GE(rotations, 2u);
  EXPECT_GE(leaves, 7u);
}

TEST_F(SecretCertificatesTest, NoKeyIsEverLogged) {
  testing::internal::CaptureStderr();
  Replica& replica = start();
  settle();
  const ServingMaterial material = stored();
  ok(patch(api::kSecrets, kNs, kSecret, R"({"data":{"ca.crt":"eA=="}})"));
  pass(minutes(5));
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("kueue-webhook-server-cert"), std::string::npos) << "something was logged";
  for (const std::string& key : {material.authority_key, material.leaf.key}) {
    EXPECT_EQ(log.find(key.substr(60, 40)), std::string::npos);
    EXPECT_EQ(log.find(base64_encode(key).substr(60, 40)), std::string::npos);
    EXPECT_EQ(replica.certificates.problem().find(key.substr(60, 40)), std::string::npos);
  }
}

}  // namespace
}  // namespace berth::serve::secret_certificates_test
