// The settings of TLS connections, for both ends.
#pragma once

#include <memory>

// OpenSSL's SSL_CTX, declared here to keep OpenSSL and Boost out of this header.
struct ssl_ctx_st;

namespace berth {

struct TlsContextDeleter {
  void operator()(ssl_ctx_st* context) const;
};
using TlsContext = std::unique_ptr<ssl_ctx_st, TlsContextDeleter>;

}  // namespace berth
