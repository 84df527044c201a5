// An HTTPS server whose certificate may change while it serves: requests in flight and connections that are open stay as they are, new
// connections see the new certificate.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/result.h"
#include "http/https_server.h"
#include "serve/certificate_source.h"

namespace berth::serve {

struct SecureServerOptions {
  std::string address = "0.0.0.0";  // an IP address
  std::uint16_t port = 0;           // 0: any that is free
  int threads = 2;
  std::size_t max_body_bytes = http::kMaxBodyBytes;
  // Configuration: tls.minVersion and tls.cipherSuites (IANA names).
  http::TlsVersion min_version = http::TlsVersion::k12;
  std::vector<std::string> cipher_suites = {};
  std::vector<std::string> groups = {};  // Configuration: tls.curvePreferences, by OpenSSL's names
};

class SecureServer {
 public:
  // Listens when this returns, so that a port in use is known at once; until the source has a certificate nobody can trust the one
  // presented. Errors name the address or the option. All but the options must outlive the server. On the executor, or before it runs.
  static Result<std::unique_ptr<SecureServer>> start(http::Handler& handler, Executor& executor, CertificateSource& source,
                                                     SecureServerOptions options);
  ~SecureServer();

  bool ready() const;  // a certificate of the source is presented
  std::uint16_t port() const;
  // PEM, one or several: clients may present certificates that these signed. Empty: none are asked for. For new connections.
  void trust_clients(std::string authorities);
  // As HttpsServer::stop().
  void stop(std::chrono::seconds grace, std::function<void()> done);

 private:
  struct Impl;
  explicit SecureServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::serve
