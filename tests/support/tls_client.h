// The TLS of a test's client: trusts authorities (PEM, one or several) and shows a certificate.
#pragma once

#include <string>

#include "http/certificates.h"

struct ssl_ctx_st;

namespace berth::testing_support {

// To be freed with SSL_CTX_free(). `client` without a certificate: none is shown. Throws std::runtime_error
// when they cannot be used.
ssl_ctx_st* make_tls_client(const std::string& authority_pem, const http::Credential& client);

}  // namespace berth::testing_support
