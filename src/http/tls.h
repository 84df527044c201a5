// The TLS side of a server: HTTP/2 and HTTP/1.1, client certificates optional.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/certificates.h"

// The OpenSSL handle, so that Boost stays out of this header.
struct ssl_ctx_st;

namespace berth::http {

struct TlsContextDeleter {
  void operator()(ssl_ctx_st* context) const;
};
using TlsContext = std::unique_ptr<ssl_ctx_st, TlsContextDeleter>;

enum class TlsVersion { k12, k13 };

struct ServerTls {
  Credential server;
  // PEM, one or several: who signs client certificates. A certificate that none of them signed does not end the handshake: its
  // requests carry the reason in HttpRequest::peer_error. Empty: none are asked for.
  std::string client_authorities;
  TlsVersion min_version = TlsVersion::k12;
  // IANA names (TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256), of TLS 1.2; empty: OpenSSL's. Those of TLS 1.3 are not for choice.
  std::vector<std::string> cipher_suites = {};
  std::vector<std::string> groups = {};  // for key exchange, in order of preference, by OpenSSL's names (X25519, P-256); empty: OpenSSL's
};

// Whether versions, ciphers and groups can be used; the error names the one that cannot. For a server that has no certificate yet.
Result<void> check_tls_options(const ServerTls& tls);

// Errors name what cannot be used: the certificate, the key, an authority, a cipher, the groups.
Result<TlsContext> make_server_context(const ServerTls& tls);

}  // namespace berth::http
