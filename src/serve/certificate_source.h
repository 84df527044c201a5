// The source of a server's certificate, with listeners for changes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/certificates.h"

namespace berth::serve {

// Use it on the executor only. The creator of a source starts it.
class CertificateSource {
 public:
  using Listener = std::function<void(const http::Credential&)>;

  virtual ~CertificateSource() = default;

  // The certificate to present now; nullopt until there is one.
  const std::optional<http::Credential>& current() const { return current_; }
  // Calls `listener` at once when there is a certificate, and with every new certificate, until the returned handle
  // is destroyed.
  [[nodiscard]] std::shared_ptr<void> listen(Listener listener);
  // Why there is no certificate, or why the present one is not renewed; empty when there is no problem.
  const std::string& problem() const { return problem_; }

 protected:
  void present(http::Credential credential);  // calls the listeners when the certificate or key is new
  // Logs the problem when it differs from the one before.
  void set_problem(std::string problem);

 private:
  std::optional<http::Credential> current_;
  std::string problem_;
  std::vector<std::weak_ptr<Listener>> listeners_;
};

}  // namespace berth::serve
