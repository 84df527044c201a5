// Certificates that renew themselves: an authority and a serving certificate in a Secret that all replicas share. The
// first replica creates them and the others read them. Any replica may renew them, with overlap, and every replica
// publishes the authorities to the API server.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "serve/ca_bundle.h"
#include "serve/certificate_source.h"
#include "serve/serving_material.h"

namespace berth::serve {

struct SecretCertificatesOptions {
  std::string ns = "kueue-system";
  std::string secret = "kueue-webhook-server-cert";  // Configuration: internalCertManagement.webhookSecretName
  std::vector<std::string> names;                    // service_names(); at least one
  CaBundleTargets targets;                           // objects that must carry the authority in caBundle
  CertificateLifetimes lifetimes;
  Duration refresh = std::chrono::minutes(1);     // how often the Secret is read
  Duration republish = std::chrono::minutes(10);  // how often the targets are checked when nothing changed
  // How long API servers get to load a published authority before it signs a certificate.
  Duration settle = std::chrono::minutes(5);
  Duration first_backoff = std::chrono::seconds(1);  // after an error; doubles up to `refresh`
};

class SecretCertificates final : public CertificateSource {
 public:
  // Both must outlive it.
  SecretCertificates(api::RestClient& client, Executor& executor, SecretCertificatesOptions options);
  ~SecretCertificates() override;

  void start();
  bool published() const;  // all targets carried the authorities at least once

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // pending callbacks hold it weakly and do nothing when it is gone
};

}  // namespace berth::serve
