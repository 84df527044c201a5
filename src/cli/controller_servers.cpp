#include "cli/controller_servers.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "base/log.h"
#include "cli/webhook_calls.h"
#include "serve/delegated_auth.h"
#include "serve/health.h"
#include "serve/local_certificates.h"
#include "serve/metrics_endpoint.h"
#include "serve/secret_certificates.h"
#include "serve/webhooks.h"

namespace berth::cli {
namespace {

using api::config::Configuration;

// The mount path of the metrics certificate in Kueue's manifests.
constexpr const char* kMetricsCertificates = "/etc/kueue/metrics/certs";
// The mount path of the visibility API's certificate in Kueue's manifests.
constexpr const char* kVisibilityCertificates = "/visibility";
constexpr const char* kClusterDomain = "cluster.local";
constexpr const char* kMetricsService = "kueue-controller-manager-metrics-service";
constexpr const char* kVisibilityService = "kueue-visibility-server";
constexpr Duration kLookForCalls = std::chrono::seconds(10);  // while webhooks have no certificate

// The wildcard address: IPv6 with IPv4 when the host supports IPv6, else IPv4 only.
std::string any_address() {
  const int probe = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return "0.0.0.0";
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  const bool works = ::bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(probe);
  return works ? "::" : "0.0.0.0";
}

serve::AskForOwner ask_for_owner(api::RestClient& client) {
  return [&client](const api::kueue::UnknownOwner& owner, std::function<void(api::RestResponse)> done) {
    client.call(api::kueue::request_for(owner), std::move(done));
  };
}

std::string address_of(const std::string& host) { return host.empty() ? any_address() : host; }

}  // namespace

struct ControllerServers::Impl {
  explicit Impl(Parts p) : parts(std::move(p)) {}

  Result<void> start() {
    for (const auto step :
         {&Impl::start_health, &Impl::start_webhooks, &Impl::start_metrics, &Impl::start_visibility}) {
      if (auto done = (this->*step)(); !done) return done;
    }
    return {};
  }

  const Configuration& configuration() const { return parts.configuration; }

  static Result<void> refuse(const char* field, const Error& error) {
    return fail(error.message + "; free it, or set " + field + " in the Configuration to another");
  }

  serve::SecureServerOptions secure(const std::string& host, std::uint16_t port) const {
    serve::SecureServerOptions options;
    options.address = address_of(host);
    options.port = port;
    const auto& tls = configuration().tls;
    options.min_version =
        tls.min_version == api::config::Tls::Version::k13 ? http::TlsVersion::k13 : http::TlsVersion::k12;
    options.cipher_suites = tls.cipher_suites;
    options.groups = tls.groups;
    return options;
  }

  Result<void> start_health() {
    const auto& wanted = configuration().health;
    if (!wanted.bind_address.enabled) return {};
    serve::HealthOptions options;
    options.address = address_of(wanted.bind_address.host);
    options.port = wanted.bind_address.port;
    options.readiness = wanted.readiness_endpoint;
    options.liveness = wanted.liveness_endpoint;
    auto server =
        serve::HealthServer::start(std::move(options), parts.executor,
                                   {{"controller", parts.unready}, {"certificates", [this] { return missing(); }}});
    if (!server) return refuse("health.healthProbeBindAddress", server.error());
    health = std::move(*server);
    return {};
  }

  Result<void> start_webhooks() {
    const auto& wanted = configuration().webhook;
    const serve::CaBundleTargets targets = serve::installed_targets(configuration().volcano.enabled);
    calls.emplace(parts.client, targets);
    if (configuration().internal_cert_management.enable) {
      serve::SecretCertificatesOptions options;
      options.ns = configuration().ns;
      options.secret = configuration().internal_cert_management.webhook_secret_name;
      options.names =
          serve::service_names({configuration().internal_cert_management.webhook_service_name, kVisibilityService},
                               options.ns, kClusterDomain);
      options.targets = targets;
      kept_in_secret.emplace(parts.client, parts.executor, std::move(options));
      webhook_certificates = &*kept_in_secret;
    } else if (parts.serve_webhooks) {
      webhook_files.emplace(parts.executor, wanted.cert_dir);
      webhook_certificates = &*webhook_files;
    }
    if (!parts.serve_webhooks) return {};
    auto server = serve::WebhookServer::start(secure(wanted.host, wanted.port), parts.executor, parts.get, parts.policy,
                                              *webhook_certificates, parts.rules, ask_for_owner(parts.client));
    if (!server) return refuse("webhook.port", server.error());
    webhooks = std::move(*server);
    return {};
  }

  Result<void> start_metrics() {
    const auto& wanted = configuration().metrics.bind_address;
    if (!wanted.enabled) return {};
    serve::DelegatedAuthOptions auth_options;
    auth_options.anonymous = false;
    auth.emplace(parts.client, parts.executor, auth_options);
    std::error_code ignored;
    if (std::filesystem::exists(kMetricsCertificates, ignored)) {
      metrics_files.emplace(parts.executor, kMetricsCertificates);
    } else {
      self_signed.emplace(parts.executor, serve::service_names({kMetricsService}, configuration().ns, kClusterDomain));
    }
    serve::CertificateSource& source =
        metrics_files ? static_cast<serve::CertificateSource&>(*metrics_files) : *self_signed;
    auto server =
        serve::MetricsServer::start(secure(wanted.host, wanted.port), parts.executor, parts.metrics, &*auth, source);
    if (!server) return refuse("metrics.bindAddress", server.error());
    metrics = std::move(*server);
    return {};
  }

  // The CA that signs the webhook certificate is also published for the visibility API.
  serve::CertificateSource& visibility_certificates() {
    if (kept_in_secret) return *kept_in_secret;
    if (std::error_code ignored; std::filesystem::exists(kVisibilityCertificates, ignored))
      return visibility_files.emplace(parts.executor, kVisibilityCertificates);
    return visibility_self_signed.emplace(
        parts.executor, serve::service_names({kVisibilityService}, configuration().ns, kClusterDomain));
  }

  Result<void> start_visibility() {
    if (!parts.pending) return {};
    const auto& wanted = configuration().visibility_server;
    visibility_auth.emplace(parts.client, parts.executor);
    auto server =
        serve::VisibilityServer::start(secure(wanted.bind_address, wanted.bind_port), parts.executor, *parts.pending,
                                       *visibility_auth, {{"controller", parts.unready}}, visibility_certificates());
    if (!server) return refuse("visibilityServer.bindPort", server.error());
    visibility = std::move(*server);
    return {};
  }

  void load_certificates(std::function<void()> done) {
    loaded = std::move(done);
    if (webhooks) {
      listening = webhook_certificates->listen(
          [this](const http::Credential&) { parts.executor.post([this] { report_loaded(); }); });
      look_for_calls();
    } else {
      parts.executor.post([this] { report_loaded(); });
    }
    if (kept_in_secret) kept_in_secret->start();
    // Files that cannot be read are retried; the certificate source logs what is missing.
    for (auto* files : {&webhook_files, &metrics_files, &visibility_files}) {
      if (*files) (void)(*files)->start();
    }
    for (auto* made : {&self_signed, &visibility_self_signed}) {
      if (!*made) continue;
      if (const auto ready = (*made)->start(); !ready) log::error("no certificate", {{"why", ready.error().message}});
    }
    if (auth) auth->start([this](const std::string& pem) { metrics->trust_clients(pem); });
    if (visibility_auth) visibility_auth->start([this](const std::string& pem) { visibility->trust_clients(pem); });
  }

  // A port that cannot be opened is retried every second.
  void report_loaded() {
    if (!loaded) return;
    if (!webhooks || webhooks->ready()) return std::exchange(loaded, {})();
    parts.executor.after(std::chrono::seconds(1), [this] { report_loaded(); });
  }

  // Without a configuration of webhooks nothing waits for their certificate. Somebody may add one later.
  void look_for_calls() {
    if (webhooks->ready()) return;
    calls->look([this] {
      parts.executor.after(kLookForCalls, [this] { look_for_calls(); });
      const std::string& problem = webhook_certificates->problem();
      if (calls->expected() || problem.empty() || !loaded) return;
      log::warn("the webhooks have no certificate, and the API server has no configuration of them: going on without",
                {{"why", problem}});
      std::exchange(loaded, {})();
    });
  }

  std::string missing() const {
    if (!parts.serve_webhooks || (webhooks && webhooks->ready())) return "";
    const std::string& problem = webhook_certificates == nullptr ? std::string() : webhook_certificates->problem();
    if (!problem.empty()) return calls->expected() ? "webhooks are not served: " + problem : "";
    return "webhooks are not served yet: their certificate is read after the caches";
  }

  void stop(std::chrono::seconds grace, std::function<void()> done) {
    auto left = std::make_shared<int>(1);
    const auto one_less = [left, done = std::move(done)] {
      if (--*left == 0) done();
    };
    const auto stop_one = [&](auto& server) {
      if (!server) return;
      ++*left;
      server->stop(grace, one_less);
    };
    stop_one(webhooks);
    stop_one(metrics);
    stop_one(visibility);
    stop_one(health);
    parts.executor.post(one_less);
  }

  Parts parts;
  std::optional<serve::SecretCertificates> kept_in_secret;
  std::optional<serve::FileCertificates> webhook_files, metrics_files, visibility_files;
  std::optional<serve::SelfSignedCertificates> self_signed, visibility_self_signed;
  serve::CertificateSource* webhook_certificates = nullptr;  // one of the above
  std::optional<serve::DelegatedAuth> auth, visibility_auth;
  std::unique_ptr<serve::HealthServer> health;
  std::unique_ptr<serve::WebhookServer> webhooks;
  std::unique_ptr<serve::MetricsServer> metrics;
  std::unique_ptr<serve::VisibilityServer> visibility;
  std::optional<WebhookCalls> calls;
  std::function<void()> loaded;
  std::shared_ptr<void> listening;
};

ControllerServers::ControllerServers(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ControllerServers::~ControllerServers() = default;

Result<std::unique_ptr<ControllerServers>> ControllerServers::start(Parts parts) {
  auto impl = std::make_unique<Impl>(std::move(parts));
  if (auto started = impl->start(); !started) return tl::unexpected(started.error());
  return std::unique_ptr<ControllerServers>(new ControllerServers(std::move(impl)));
}

void ControllerServers::load_certificates(std::function<void()> done) { impl_->load_certificates(std::move(done)); }
std::string ControllerServers::missing() const { return impl_->missing(); }
void ControllerServers::stop(std::chrono::seconds grace, std::function<void()> done) {
  impl_->stop(grace, std::move(done));
}

}  // namespace berth::cli
