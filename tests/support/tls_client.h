// TLS settings of a test client: trusts CA certificates (PEM, one or several) and sends a client certificate.
#pragma once

#include <string>

#include "http/certificates.h"

struct ssl_ctx_st;

namespace berth::testing_support {

// Free the result with SSL_CTX_free(). A `client` without a certificate: none is sent. Throws std::runtime_error when
// the certificates cannot be used.
ssl_ctx_st* make_tls_client(const std::string& authority_pem, const http::Credential& client);

}  // namespace berth::testing_support
