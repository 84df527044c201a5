#include "conformance/real_front.h"

#include <chrono>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/yaml.h"
#include "cli/visibility.h"
#include "controller/configure.h"
#include "serve/delegated_auth.h"
#include "serve/visibility.h"
#include "serve/webhooks.h"
#include "source_dir.h"

namespace berth::conformance {
namespace {

constexpr const char* kNamespace = "kueue-system";

template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

Time real_now() { return std::chrono::floor<Duration>(std::chrono::system_clock::now()); }

// A certificate that does not change during the test.
class OneCertificate final : public serve::CertificateSource {
 public:
  OneCertificate() : authority_(must(http::make_authority("webhooks of a test", real_now()))) {
    present(must(http::make_server_credential(
        authority_, {"127.0.0.1", "localhost", std::string("kueue-visibility-server.") + kNamespace + ".svc"},
        real_now())));
  }
  std::string bundle() const { return base64_encode(authority_.certificate); }

 private:
  http::Credential authority_;
};

serve::SecureServerOptions on_loopback() {
  serve::SecureServerOptions options;
  options.address = "127.0.0.1";
  return options;
}

std::vector<Json> install_documents() {
  std::stringstream bytes;
  bytes << std::ifstream(source_path("config/install/berth.yaml")).rdbuf();
  return must(parse_yaml(bytes.str()));
}

}  // namespace

struct RealFront::Impl {
  Impl(api::RestClient& client, Executor& executor, controller::Controller& controller,
       const controller::ControllerOptions& options)
      : auth(client, executor) {
    auto policy = controller::admission_policy(options);
    policy.manages_namespace = [&controller](std::string_view ns) { return controller.manages_namespace(ns); };
    webhooks = must(serve::WebhookServer::start(
        on_loopback(), executor,
        [&controller](const api::GroupVersionResource& resource, std::string_view ns, std::string_view name) {
          return controller.find(resource, ns, name);
        },
        std::move(policy), certificate));
    visibility = must(serve::VisibilityServer::start(
        on_loopback(), executor,
        cli::pending_source([&controller]() -> const controller::Controller& { return controller; },
                            [&executor] { return executor.now(); }),
        auth, {{"controller", [] { return std::string(); }}}, certificate));
    auth.start([this](const std::string& pem) { visibility->trust_clients(pem); });
  }

  // Services have no address here, so the webhook configuration uses a URL.
  Json pointed_here(Json configuration) const {
    for (Json& webhook : ensure_path(configuration, {"webhooks"}).as_array()) {
      const std::string path(string_at(webhook, {"clientConfig", "service", "path"}));
      webhook.as_object()["clientConfig"] = JsonObject{
          {"url", "https://127.0.0.1:" + std::to_string(webhooks->port()) + path}, {"caBundle", certificate.bundle()}};
      webhook.as_object()["matchConditions"] =
          JsonArray{JsonObject{{"name", "not-past-webhooks"},
                               {"expression", std::string("request.userInfo.username != '") + kPastWebhooks + "'"}}};
    }
    return configuration;
  }

  OneCertificate certificate;
  serve::DelegatedAuth auth;
  std::unique_ptr<serve::WebhookServer> webhooks;
  std::unique_ptr<serve::VisibilityServer> visibility;
};

RealFront::RealFront(api::RestClient& client, Executor& executor, controller::Controller& controller,
                     const controller::ControllerOptions& options)
    : impl_(std::make_unique<Impl>(client, executor, controller, options)) {}
RealFront::~RealFront() = default;

std::vector<Json> RealFront::objects() const {
  std::vector<Json> objects = {
      JsonObject{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", JsonObject{{"name", kNamespace}}}}};
  for (Json& document : install_documents()) {
    const std::string_view kind = string_at(document, {"kind"});
    if (kind.ends_with("WebhookConfiguration")) {
      objects.push_back(impl_->pointed_here(std::move(document)));
    } else if (kind == "APIService") {
      ensure_path(document, {"spec", "service", "port"}) = impl_->visibility->port();
      ensure_path(document, {"spec", "caBundle"}) = impl_->certificate.bundle();
      objects.push_back(std::move(document));
    } else if (kind == "Service" && string_at(document, {"metadata", "name"}) == "kueue-visibility-server") {
      document.as_object()["spec"] = JsonObject{{"type", "ExternalName"}, {"externalName", "localhost"}};
      objects.push_back(std::move(document));
    }
  }
  return objects;
}

}  // namespace berth::conformance
