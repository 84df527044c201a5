#include "base/tls_context.h"

#include <openssl/ssl.h>

namespace berth {

void TlsContextDeleter::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

}  // namespace berth
