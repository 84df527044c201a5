// Certificates that need no API server: from files that another program renews, or self-signed for this process.
#pragma once

#include <string>
#include <vector>

#include "base/executor.h"
#include "base/result.h"
#include "serve/certificate_source.h"

namespace berth::serve {

// Reads a certificate and its key, PEM, from files, again every `refresh`.
// When key and certificate do not match (one file was replaced before the other), the previous pair stays.
class FileCertificates final : public CertificateSource {
 public:
  static constexpr Duration kRefresh = std::chrono::seconds(10);

  // <directory>/tls.crt and tls.key, the layout of cert-manager's Secrets when mounted.
  FileCertificates(Executor& executor, const std::string& directory, Duration refresh = kRefresh);
  FileCertificates(Executor& executor, std::string certificate, std::string key, Duration refresh = kRefresh);
  ~FileCertificates() override;

  // The error, also in problem() and the log, names the unusable file and how to create it. After an error the files
  // are still read every `refresh`.
  Result<void> start();

 private:
  Result<void> read();
  void again();

  Executor& executor_;
  std::string certificate_, key_;
  std::string how_to_make_;
  Duration refresh_;
  TimerId timer_ = 0;
};

// A certificate signed by a new authority whose key is dropped at once; renewed when a third of its lifetime is left.
// For metrics that are scraped without verification.
class SelfSignedCertificates final : public CertificateSource {
 public:
  SelfSignedCertificates(Executor& executor, std::vector<std::string> names,
                         std::chrono::hours lifetime = http::kLeafLifetime);
  ~SelfSignedCertificates() override;

  Result<void> start();

 private:
  Result<void> make();

  Executor& executor_;
  std::vector<std::string> names_;
  std::chrono::hours lifetime_;
  TimerId timer_ = 0;
};

}  // namespace berth::serve
