// What a controller process serves, whoever leads: health, metrics, webhooks and the visibility API, and the certificates for them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/config/configuration.h"
#include "api/kueue/admission.h"
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
    api::RestClient& client;  // for certificates, and to ask who may read metrics and positions
    Executor& executor;
    api::kueue::ObjectGetter get;  // what webhooks look up
    api::kueue::AdmissionPolicy policy;
    serve::MetricsSource metrics;
    std::function<std::string()> unready;   // what else is missing until this process is ready; "" nothing
    std::optional<serve::PendingSource> pending;  // none: the visibility API is not served
    api::kueue::RulesOf rules = {};  // of kinds that are not Kueue's; empty: what they would judge is allowed
  };

  // Every port is bound and health is served when this returns, before the executor runs. Errors name the field of the Configuration.
  static Result<std::unique_ptr<ControllerServers>> start(Parts parts);
  ~ControllerServers();

  // Gets the certificates; `done` is called, once, when webhooks are served with one.
  void load_certificates(std::function<void()> done);
  // Why webhooks have no certificate yet; "" when they have.
  std::string missing() const;
  // Lets requests in flight finish for as long as `grace`.
  void stop(std::chrono::seconds grace, std::function<void()> done);

 private:
  struct Impl;
  explicit ControllerServers(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::cli
