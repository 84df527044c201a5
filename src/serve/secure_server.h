// An HTTPS server whose certificate may arrive later and change while it serves. The port opens with the first
// certificate. When the certificate changes, running requests and open connections continue; new connections get the
// new certificate.
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
  // As those of HttpsServerOptions.
  std::size_t stranger_bytes_per_peer = http::kMaxStrangerBytesPerPeer;
  std::size_t stranger_bytes = http::kMaxStrangerBytes;
  // Configuration: tls.minVersion and tls.cipherSuites (IANA names).
  http::TlsVersion min_version = http::TlsVersion::k12;
  std::vector<std::string> cipher_suites = {};
  std::vector<std::string> groups = {};  // Configuration: tls.curvePreferences, by OpenSSL's names
};

class SecureServer {
 public:
  // Binds the port before it returns, so that a port in use is an error at once. Connections are refused until the
  // source has a certificate. Errors name the address or the option. All arguments but the options must outlive the
  // server. Call it on the executor, or before the executor runs.
  static Result<std::unique_ptr<SecureServer>> start(http::Handler& handler, Executor& executor,
                                                     CertificateSource& source, SecureServerOptions options);
  ~SecureServer();

  bool ready() const;  // the port is open, with a certificate
  std::uint16_t port() const;
  // Authorities (PEM, one or more) whose client certificates are accepted. Empty: clients are not asked for a
  // certificate. Applies to new connections.
  void trust_clients(std::string authorities);
  // As HttpsServer::stop().
  void stop(std::chrono::seconds grace, std::function<void()> done);

 private:
  struct Impl;
  explicit SecureServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::serve
