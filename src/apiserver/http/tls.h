// The TLS side of the server: HTTP/1.1 only, TLS 1.2 and later, client certificates optional.
#pragma once

#include <memory>
#include <string>

#include "apiserver/http/pki.h"

// The OpenSSL handle, so that Boost stays out of this header.
struct ssl_ctx_st;

namespace berth::apiserver::http {

struct TlsContextDeleter {
  void operator()(ssl_ctx_st* context) const;
};
using TlsContext = std::unique_ptr<ssl_ctx_st, TlsContextDeleter>;

// A client may present a certificate; one that the authority did not sign does not end the handshake: its
// requests are answered with 401 and the reason.
Result<TlsContext> make_server_context(const Pki& pki);

}  // namespace berth::apiserver::http
