#include "support/tls_client.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <memory>
#include <stdexcept>

namespace berth::testing_support {
namespace {

struct FreeBio {
  void operator()(BIO* b) const { BIO_free(b); }
};

std::unique_ptr<BIO, FreeBio> bio_of(const std::string& text) {
  return std::unique_ptr<BIO, FreeBio>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

}  // namespace

ssl_ctx_st* make_tls_client(const std::string& authority_pem, const berth::http::Credential& client) {
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  bool fine = true;
  const auto authorities = bio_of(authority_pem);
  while (X509* const authority = PEM_read_bio_X509(authorities.get(), nullptr, nullptr, nullptr)) {
    fine = fine && X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority) == 1;
    X509_free(authority);
  }
  ERR_clear_error();  // the end of the PEM text is reported as an error
  if (!client.certificate.empty()) {
    X509* const own = PEM_read_bio_X509(bio_of(client.certificate).get(), nullptr, nullptr, nullptr);
    EVP_PKEY* const key = PEM_read_bio_PrivateKey(bio_of(client.key).get(), nullptr, nullptr, nullptr);
    fine = fine && SSL_CTX_use_certificate(context, own) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1;
    X509_free(own);
    EVP_PKEY_free(key);
  }
  if (!fine) throw std::runtime_error("a certificate of the test's client cannot be used");
  return context;
}

}  // namespace berth::testing_support
