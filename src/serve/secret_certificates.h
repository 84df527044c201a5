// Certificates that look after themselves: an authority and a serving certificate in a Secret that all replicas share. The first
// replica makes them, the others take them; whoever is first renews them, with overlap, and every replica sees to it that the API
// server trusts them.
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
  CaBundleTargets targets;                           // who must trust the authority
  CertificateLifetimes lifetimes;
  Duration refresh = std::chrono::minutes(1);   // how often the Secret is read
  Duration republish = std::chrono::minutes(10);  // how often the targets are looked at though nothing changed
  // How long API servers are given to learn whom to trust before something new is signed by it.
  Duration settle = std::chrono::minutes(5);
  Duration first_backoff = std::chrono::seconds(1);  // after an error; doubles up to `refresh`
};

class SecretCertificates final : public CertificateSource {
 public:
  // Both must outlive it.
  SecretCertificates(api::RestClient& client, Executor& executor, SecretCertificatesOptions options);
  ~SecretCertificates() override;

  void start();
  bool published() const;  // the API server was told whom to trust, at least once

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with answers under way, which find it over
};

}  // namespace berth::serve
