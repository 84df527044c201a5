// Where a server's certificate comes from, and who is told when there is another one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/certificates.h"

namespace berth::serve {

// On the executor only. Sources are started by whoever made them.
class CertificateSource {
 public:
  using Listener = std::function<void(const http::Credential&)>;

  virtual ~CertificateSource() = default;

  // The certificate to present now; nullopt until there is one.
  const std::optional<http::Credential>& current() const { return current_; }
  // Called at once when there is a certificate, and with every other one that takes its place, until what is returned is destroyed.
  [[nodiscard]] std::shared_ptr<void> listen(Listener listener);
  // Why there is no certificate, or why the present one is not renewed; empty when all is well.
  const std::string& problem() const { return problem_; }

 protected:
  void present(http::Credential credential);  // tells the listeners when it is not the present one
  // Said once to the log when it is another one than before.
  void set_problem(std::string problem);

 private:
  std::optional<http::Credential> current_;
  std::string problem_;
  std::vector<std::weak_ptr<Listener>> listeners_;
};

}  // namespace berth::serve
