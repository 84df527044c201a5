// Metrics over HTTPS: GET /metrics for users whom the API server allows "get" on that path.
// https://kubernetes.io/docs/concepts/cluster-administration/system-metrics/
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "serve/delegated_auth.h"
#include "serve/secure_server.h"

namespace berth::serve {

struct MetricsSource {
  std::function<void()> refresh;  // called on the executor: updates metrics that are computed on request
  // Called on any thread after refresh(): all metrics in Prometheus' text format, which may be megabytes.
  std::function<std::string()> text;
};

class MetricsHandler final : public http::Handler {
 public:
  // `auth` null: no authorization.
  MetricsHandler(MetricsSource source, DelegatedAuth* auth);

  std::unique_ptr<Parsed> parse(http::HttpRequest request) const override;
  std::unique_ptr<http::Exchange> execute(std::unique_ptr<Parsed> request,
                                          std::shared_ptr<http::ResponseSink> sink) override;

 private:
  MetricsSource source_;
  DelegatedAuth* auth_;
};

class MetricsServer {
 public:
  // As SecureServer::start(). `auth` and the objects that `source` uses must outlive the server.
  static Result<std::unique_ptr<MetricsServer>> start(SecureServerOptions options, Executor& executor,
                                                      MetricsSource source, DelegatedAuth* auth,
                                                      CertificateSource& certificates);

  std::uint16_t port() const { return server_->port(); }
  // As SecureServer::trust_clients().
  void trust_clients(std::string authorities) { server_->trust_clients(std::move(authorities)); }
  void stop(std::chrono::seconds grace, std::function<void()> done) { server_->stop(grace, std::move(done)); }

 private:
  explicit MetricsServer(std::unique_ptr<MetricsHandler> handler) : handler_(std::move(handler)) {}
  std::unique_ptr<MetricsHandler> handler_;
  std::unique_ptr<SecureServer> server_;
};

}  // namespace berth::serve
