// Certificates that need no API server: from files that somebody else keeps up to date, or made for this process alone.
#pragma once

#include <string>
#include <vector>

#include "base/executor.h"
#include "base/result.h"
#include "serve/certificate_source.h"

namespace berth::serve {

// From <directory>/tls.crt and tls.key, as cert-manager's Secrets look when they are mounted. Read again every `refresh`; a pair that
// does not belong together (one of the two was replaced first) is not taken, the one before stays.
class FileCertificates final : public CertificateSource {
 public:
  FileCertificates(Executor& executor, std::string directory, Duration refresh = std::chrono::seconds(10));
  ~FileCertificates() override;

  // The error, which problem() and the log say too, names the file that cannot be used and how to make it. Files that come later are
  // still taken.
  Result<void> start();

 private:
  Result<void> read();
  void again();
  std::string how_to_make() const;

  Executor& executor_;
  std::string directory_;
  Duration refresh_;
  TimerId timer_ = 0;
};

// Signed by an authority that nobody knows and that is forgotten at once; renewed when a third of its life is left. For metrics that are
// scraped without verification.
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
