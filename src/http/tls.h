// TLS for servers: HTTP/2 and HTTP/1.1, with optional client certificates.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tls_context.h"
#include "http/certificates.h"

namespace berth::http {

enum class TlsVersion { k12, k13 };

struct ServerTls {
  Credential server;
  // PEM, one or several: the authorities of client certificates. A certificate that none of them signed does not fail
  // the handshake: the reason is in HttpRequest::peer_error of its requests. Empty: the server asks for no client
  // certificate.
  std::string client_authorities;
  TlsVersion min_version = TlsVersion::k12;
  // TLS 1.2 cipher suites by IANA name (TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256); empty: OpenSSL's default. Those of
  // TLS 1.3 are not configurable.
  std::vector<std::string> cipher_suites = {};
  // Key exchange groups in order of preference, by OpenSSL's names (X25519, P-256); empty: OpenSSL's default.
  std::vector<std::string> groups = {};
};

// Checks the version, ciphers and groups; the error names the one that cannot be used. For a server that has no
// certificate yet.
Result<void> check_tls_options(const ServerTls& tls);

// Errors name what cannot be used: the certificate, the key, an authority, a cipher or the groups.
Result<TlsContext> make_server_context(const ServerTls& tls);

}  // namespace berth::http
