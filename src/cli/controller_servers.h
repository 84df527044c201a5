// The servers of a controller process, leader or not: health, metrics, webhooks and the visibility API, with their
// certificates.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/config/configuration.h"
#include "api/kueue/webhooks/admission.h"
#include "api/rest.h"
#include "base/executor.h"
#include "base/result.h"
#include "serve/metrics_endpoint.h"
#include "serve/visibility.h"

namespace berth::cli {

class ControllerServers {
 public:
  struct Parts {
    const api::config::Configuration& configuration;
    api::RestClient& client;  // for certificates, and to ask who may read metrics and pending workloads
    Executor& executor;
    api::kueue::ObjectGetter get;  // reads objects for the webhooks
    api::kueue::AdmissionPolicy policy;
    serve::MetricsSource metrics;
    std::function<std::string()> unready;         // other reasons why this process is not ready; "": none
    std::optional<serve::PendingSource> pending;  // none: the visibility API is not served
    api::kueue::RulesOf rules = {};               // rules for kinds of other groups; empty: their requests are allowed
    bool serve_webhooks = true;
  };

  // When this returns, all ports are bound and health is served, before the executor runs. An error names the field
  // of the Configuration.
  static Result<std::unique_ptr<ControllerServers>> start(Parts parts);
  ~ControllerServers();

  // Loads the certificates. Calls `done` once, when webhooks are served with a certificate, or need none.
  void load_certificates(std::function<void()> done);
  // The reason why webhooks have no certificate yet; "" when they have one, or when the API server calls none.
  std::string missing() const;
  // Stops all servers. Waits for requests in flight, at most `grace`.
  void stop(std::chrono::seconds grace, std::function<void()> done);

 private:
  struct Impl;
  explicit ControllerServers(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::cli
