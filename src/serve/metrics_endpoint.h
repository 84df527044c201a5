// Metrics over HTTPS: GET /metrics for whoever may "get" that path, as the API server says.
// https://kubernetes.io/docs/concepts/cluster-administration/system-metrics/
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "serve/delegated_auth.h"
#include "serve/secure_server.h"

namespace berth::serve {

struct MetricsSource {
  std::function<void()> refresh;      // on the executor: what is looked up at the moment
  std::function<std::string()> text;  // on any thread, soon after: everything in Prometheus' text format, which may be megabytes
};

class MetricsHandler final : public http::Handler {
 public:
  // `auth` null: everybody may read.
  MetricsHandler(MetricsSource source, DelegatedAuth* auth);

  std::unique_ptr<Parsed> parse(http::HttpRequest request) const override;
  std::unique_ptr<http::Exchange> execute(std::unique_ptr<Parsed> request, std::shared_ptr<http::ResponseSink> sink) override;

 private:
  MetricsSource source_;
  DelegatedAuth* auth_;
};

class MetricsServer {
 public:
  // As SecureServer::start(). `auth` and what `source` looks at must outlive the server.
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
