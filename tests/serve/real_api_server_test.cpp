// Webhooks, their certificates and delegated authentication against a real kube-apiserver, if one is configured.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "base/embedded.h"
#include "base/yaml.h"
#include "http/asio_executor.h"
#include "kube/client.h"
#include "serve/delegated_auth.h"
#include "serve/secret_certificates.h"
#include "serve/webhooks.h"
#include "support/https_client.h"
#include "support/real_api_server.h"

namespace berth::serve::real_api_server_test {
namespace {

using std::chrono::hours;
using testing_support::HttpsAnswer;
using testing_support::HttpsClient;
using testing_support::RealApiServer;

constexpr std::chrono::seconds kDeadline{60};

// The system clock, shifted into the past: a test makes certificates old with it.
class ShiftedExecutor final : public Executor {
 public:
  ShiftedExecutor(Executor& inner, Duration shift) : inner_(inner), shift_(shift) {}
  Time now() const override { return inner_.now() + shift_; }
  void post(Task task) override { inner_.post(std::move(task)); }
  TimerId at(Time when, Task task) override { return inner_.at(when - shift_, std::move(task)); }
  void cancel(TimerId timer) override { inner_.cancel(timer); }
  void set(Duration shift) { shift_ = shift; }

 private:
  Executor& inner_;
  Duration shift_;
};

class OnARealApiServer : public testing::Test {
 protected:
  // Certificates are made kAgo in the past: with the right clock they are in the last third of their lifetime kLife.
  static constexpr hours kAgo{25}, kLife{32};

  void SetUp() override {
    if (!RealApiServer::configured()) GTEST_SKIP() << testing_support::kNoRealApiServer;
    real.emplace(testing_support::RealApiServerOptions{{"token-of-prometheus,prometheus,7,\"monitoring\""}});
    admin.emplace(real->port(), real->authority(), real->admin());
    client = kube::Client::make(executor, kube::load_kubeconfig({real->kubeconfig()}).value()).value();
    const auto get = [](const api::GroupVersionResource&, std::string_view, std::string_view) { return JsonPtr(); };
    SecretCertificatesOptions options;
    options.names = {"127.0.0.1"};
    options.targets = {{"hooks"}, {"hooks"}, {"clusterqueues.kueue.x-k8s.io", "workloads.kueue.x-k8s.io"}, {}};
    options.lifetimes = {.authority = kLife, .leaf = kLife};
    options.refresh = std::chrono::milliseconds(100);
    options.settle = std::chrono::seconds(2);
    certificates.emplace(*client, past, std::move(options));
    server = WebhookServer::start({.address = "127.0.0.1"}, executor, get, {}, *certificates).value();
    must("POST", "/api/v1/namespaces", R"({"metadata":{"name":"kueue-system"}})");
    for (const auto& file : embedded::crds()) make_crd(file.content);
    make_webhooks();
    executor.post([this] { certificates->start(); });
    thread = std::thread([this] { executor.run(); });
    ASSERT_TRUE(eventually([this] { return certificates->published(); }));
  }
  void TearDown() override {
    if (!thread.joinable()) return;
    std::promise<void> stopped;
    server->stop(std::chrono::seconds(5), [&] { stopped.set_value(); });
    stopped.get_future().wait();
    executor.stop();
    thread.join();
    server.reset();
  }

  Json must(const std::string& method, const std::string& path, const std::string& body = "") {
    const HttpsAnswer answer = admin->request(method, path, body);
    EXPECT_TRUE(answer.status == 200 || answer.status == 201)
        << method << " " << path << ": " << answer.status << " " << answer.body;
    return parse_json(answer.body).value_or(Json(nullptr));
  }
  std::string url(std::string_view path) const {
    return "https://127.0.0.1:" + std::to_string(server->port()) + std::string(path);
  }

  void make_crd(std::string_view text) {
    Json crd = parse_yaml(text).value().front();
    const std::string name(string_at(crd, {"metadata", "name"}));
    if (!name.ends_with(".kueue.x-k8s.io")) return;
    if (name.starts_with("clusterqueues.") || name.starts_with("workloads.")) {
      ensure_path(crd, {"spec", "conversion"}) =
          JsonObject{{"strategy", "Webhook"},
                     {"webhook", JsonObject{{"conversionReviewVersions", JsonArray{"v1"}},
                                            {"clientConfig", JsonObject{{"url", url("/convert")}}}}}};
    } else {
      erase_path(crd, {"spec", "conversion"});
    }
    must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", to_string(crd));
  }

  Json hook(std::string_view verb, std::string_view group, std::string_view version, std::string_view resource,
            std::string_view kind, JsonArray operations) const {
    std::string path = "/" + std::string(verb) + "-";
    for (const char c : group) path += c == '.' ? '-' : c;
    path += "-" + std::string(version) + "-" + std::string(kind);
    return JsonObject{{"name", std::string(kind) + ".example.com"},
                      {"clientConfig", JsonObject{{"url", url(path)}}},
                      {"rules", JsonArray{JsonObject{{"apiGroups", JsonArray{group}},
                                                     {"apiVersions", JsonArray{version}},
                                                     {"operations", std::move(operations)},
                                                     {"resources", JsonArray{resource}}}}},
                      {"sideEffects", "None"},
                      {"failurePolicy", "Fail"},
                      {"admissionReviewVersions", JsonArray{"v1"}}};
  }
  void make_webhooks() {
    constexpr std::string_view kKueue = "kueue.x-k8s.io";
    const JsonArray create{"CREATE"}, both{"CREATE", "UPDATE"};
    const JsonArray mutating{hook("mutate", "batch", "v1", "jobs", "job", create),
                             hook("mutate", kKueue, "v1beta2", "clusterqueues", "clusterqueue", create)};
    const JsonArray validating{hook("validate", "batch", "v1", "jobs", "job", both),
                               hook("validate", kKueue, "v1beta2", "clusterqueues", "clusterqueue", both)};
    const std::string path = "/apis/admissionregistration.k8s.io/v1/";
    const auto named = [](const JsonArray& webhooks) {
      return to_string(JsonObject{{"metadata", JsonObject{{"name", "hooks"}}}, {"webhooks", webhooks}});
    };
    must("POST", path + "mutatingwebhookconfigurations", named(mutating));
    must("POST", path + "validatingwebhookconfigurations", named(validating));
  }

  template <typename F>
  auto on_executor(F what) {
    std::promise<decltype(what())> result;
    executor.post([&] { result.set_value(what()); });
    return result.get_future().get();
  }
  template <typename F>
  bool eventually(F condition) {
    const auto until = std::chrono::steady_clock::now() + kDeadline;
    while (std::chrono::steady_clock::now() < until) {
      if (on_executor(condition)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // between looks
    }
    return false;
  }
  // Creates (dry run) a Job with a queue and a unique name.
  HttpsAnswer post_job() {
    const std::string body =
        R"({"metadata":{"name":"j)" + std::to_string(++jobs) +
        R"(","labels":{"kueue.x-k8s.io/queue-name":"q"}},"spec":{"template":{"spec":{"restartPolicy":"Never",)"
        R"("containers":[{"name":"c","image":"i"}]}}}})";
    return admin->request("POST", "/apis/batch/v1/namespaces/default/jobs?dryRun=All", body);
  }
  bool starts_suspended(const HttpsAnswer& answer) {
    return answer.status == 201 && bool_at(parse_json(answer.body).value(), {"spec", "suspend"});
  }
  // The API server uses new webhooks only after a moment.
  void wait_for_webhooks() {
    const auto until = std::chrono::steady_clock::now() + kDeadline;
    HttpsAnswer answer;
    while (!starts_suspended(answer = post_job())) {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << answer.status << answer.body;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // between looks
    }
  }

  http::AsioExecutor executor;
  ShiftedExecutor past{executor, -kAgo};
  std::optional<RealApiServer> real;
  std::optional<HttpsClient> admin;
  std::unique_ptr<kube::Client> client;
  std::optional<SecretCertificates> certificates;
  std::unique_ptr<WebhookServer> server;
  std::thread thread;
  int jobs = 0;
};

TEST_F(OnARealApiServer, ObjectsAreDefaultedJudgedAndConverted) {
  wait_for_webhooks();
  const std::string path = "/apis/kueue.x-k8s.io/v1beta1/clusterqueues";
  const auto queue = [](const std::string& name, const std::string& spec) {
    return R"({"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"ClusterQueue","metadata":{"name":")" + name +
           R"("},"spec":{)" + spec + "}}";
  };
  const Json made = must("POST", path, queue("q", R"("cohort":"team","namespaceSelector":{})"));
  EXPECT_EQ(string_at(made, {"spec", "cohort"}), "team");
  EXPECT_EQ(array_at(made, {"metadata", "finalizers"}).size(), 1u);
  EXPECT_EQ(string_at(must("GET", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/q"), {"spec", "cohortName"}), "team");

  const HttpsAnswer bad = admin->request("POST", path, queue("bad", R"("fairSharing":{"weight":"-1"})"));
  EXPECT_EQ(bad.status, 403) << bad.body;
  const Json status = parse_json(bad.body).value();
  EXPECT_EQ(string_at(status, {"reason"}), "Forbidden");
  EXPECT_EQ(string_at(status, {"message"})
                .find("admission webhook \"clusterqueue.example.com\" denied the request: "
                      "spec.fairSharing.weight"),
            0u)
      << bad.body;
  ASSERT_EQ(array_at(status, {"details", "causes"}).size(), 1u) << bad.body;
}

TEST_F(OnARealApiServer, AuthoritiesChangeUnderWritesAndNoneFails) {
  wait_for_webhooks();
  const auto stored = [&] {
    const Json secret = must("GET", "/api/v1/namespaces/kueue-system/secrets/kueue-webhook-server-cert");
    return read_material(secret).value().value();
  };
  const ServingMaterial before = stored();
  on_executor([&] { return past.set(Duration(0)), 0; });
  const auto until = std::chrono::steady_clock::now() + kDeadline;
  int written = 0;
  for (bool both = false; !both; ++written) {
    const HttpsAnswer answer = post_job();
    ASSERT_TRUE(starts_suspended(answer)) << written << ": " << answer.body;
    ASSERT_LT(std::chrono::steady_clock::now(), until) << on_executor([&] { return certificates->problem(); });
    if (written % 20 != 0) continue;
    const ServingMaterial now = stored();
    both = now.authority_key != before.authority_key && now.leaf.certificate != before.leaf.certificate;
  }
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(starts_suspended(post_job()));
  EXPECT_GT(written, 20);
}

TEST_F(OnARealApiServer, TokensAndPermissionsAreTheApiServers) {
  must("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
       R"({"metadata":{"name":"metrics-reader"},"rules":[{"nonResourceURLs":["/metrics"],"verbs":["get"]}]})");
  must(
      "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
      R"({"metadata":{"name":"metrics-reader"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",)"
      R"("name":"metrics-reader"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"prometheus"}]})");
  std::optional<DelegatedAuth> auth;
  on_executor([&] {
    auth.emplace(*client, executor);
    auth->start([](const std::string&) {});
    return 0;
  });
  const auto ask = [&](const std::string& token, const std::string& path) {
    std::promise<int> status;
    executor.post([&] {
      http::HttpRequest request;
      request.headers = {{"Authorization", "Bearer " + token}};
      AccessAttributes attributes;
      attributes.verb = "get";
      attributes.path = path;
      auth->check(request, attributes,
                  [&](const auto& caller) { status.set_value(caller ? 200 : caller.error().status); });
    });
    return status.get_future().get();
  };
  EXPECT_EQ(ask("nobody's", "/metrics"), 401);
  EXPECT_EQ(ask("token-of-prometheus", "/debug"), 403);
  // The authorizer uses new roles only after a moment.
  const auto until = std::chrono::steady_clock::now() + kDeadline;
  while (ask("token-of-prometheus", "/metrics") != 200) {
    ASSERT_LT(std::chrono::steady_clock::now(), until);
    std::this_thread::sleep_for(std::chrono::seconds(1));  // refusals are cached for a while
  }
  EXPECT_TRUE(eventually([&] { return auth->synced(); }));
  on_executor([&] { return auth.reset(), 0; });
}

}  // namespace
}  // namespace berth::serve::real_api_server_test
