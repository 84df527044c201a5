// Health probes over plain HTTP on a port of their own: /healthz, /livez and /readyz, with ?verbose and with single
// checks below them, such as /readyz/caches. https://kubernetes.io/docs/reference/using-api/health-checks/
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "http/https_server.h"

namespace berth::serve {

struct HealthCheck {
  std::string name;                      // "caches"
  std::function<std::string()> failure;  // called on the executor; what is wrong, empty when all is well
  bool readiness_only = true;            // does not count for liveness: a restart would not help
};

struct HealthOptions {
  std::string address = "0.0.0.0";
  std::uint16_t port = 0;            // 0: any that is free
  std::string readiness = "readyz";  // Configuration: health.readinessEndpointName
  std::string liveness = "healthz";  // Configuration: health.livenessEndpointName; /livez answers the same
};

class HealthHandler final : public http::Handler {
 public:
  HealthHandler(HealthOptions options, std::vector<HealthCheck> checks);

  std::unique_ptr<Parsed> parse(http::HttpRequest request) const override;
  std::unique_ptr<http::Exchange> execute(std::unique_ptr<Parsed> request,
                                          std::shared_ptr<http::ResponseSink> sink) override;

 private:
  http::HttpResponse answer(const http::HttpRequest& request) const;

  HealthOptions options_;
  std::vector<HealthCheck> checks_;
};

class HealthServer {
 public:
  // The port is open when this returns. Errors name the address. When the executor hangs there is no answer, which a
  // probe counts as a failure.
  static Result<std::unique_ptr<HealthServer>> start(HealthOptions options, Executor& executor,
                                                     std::vector<HealthCheck> checks);

  std::uint16_t port() const { return server_->port(); }
  void stop(std::chrono::seconds grace, std::function<void()> done) { server_->stop(grace, std::move(done)); }

 private:
  explicit HealthServer(std::unique_ptr<HealthHandler> handler) : handler_(std::move(handler)) {}
  std::unique_ptr<HealthHandler> handler_;
  std::unique_ptr<http::HttpsServer> server_;
};

}  // namespace berth::serve
