#include "apiserver/http/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <string_view>

namespace berth::apiserver::http {
namespace {

tl::unexpected<Error> tls_error(std::string_view what) {
  char text[256] = "unknown error";
  if (const unsigned long code = ERR_get_error()) ERR_error_string_n(code, text, sizeof text);
  ERR_clear_error();
  return fail(std::string(what) + ": " + text);
}

struct FreeBio {
  void operator()(BIO* b) const { BIO_free(b); }
};
struct FreeX509 {
  void operator()(X509* x) const { X509_free(x); }
};
struct FreeKey {
  void operator()(EVP_PKEY* k) const { EVP_PKEY_free(k); }
};

std::unique_ptr<X509, FreeX509> certificate_of(std::string_view pem) {
  const std::unique_ptr<BIO, FreeBio> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return std::unique_ptr<X509, FreeX509>(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

bool use_credential(SSL_CTX* context, const Credential& c) {
  const auto certificate = certificate_of(c.certificate);
  const std::unique_ptr<BIO, FreeBio> bio(BIO_new_mem_buf(c.key.data(), static_cast<int>(c.key.size())));
  const std::unique_ptr<EVP_PKEY, FreeKey> key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  return certificate && key && SSL_CTX_use_certificate(context, certificate.get()) == 1 &&
         SSL_CTX_use_PrivateKey(context, key.get()) == 1 && SSL_CTX_check_private_key(context) == 1;
}

bool trust(SSL_CTX* context, std::string_view authority_pem) {
  const auto authority = certificate_of(authority_pem);
  return authority && X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) == 1;
}

// Only http/1.1 is spoken; a client that insists on something else gets no protocol, which it may take as
// that.
int select_protocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                    unsigned in_size, void*) {
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  unsigned char* selected = nullptr;
  const int result = SSL_select_next_proto(&selected, out_size, kHttp11, sizeof kHttp11 - 1, in, in_size);
  *out = selected;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

void TlsContextDeleter::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

Result<TlsContext> make_server_context(const Pki& pki) {
  TlsContext context(SSL_CTX_new(TLS_server_method()));
  if (!context) return tls_error("cannot set up TLS");
  SSL_CTX* const c = context.get();
  SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION);
  SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // No resumption: a resumed session would carry a client certificate that was not checked again.
  SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(c, 0);
  SSL_CTX_set_mode(c, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(c, select_protocol, nullptr);
  SSL_CTX_set_verify(c, SSL_VERIFY_PEER, nullptr);
  if (!use_credential(c, pki.server)) return tls_error("cannot use the server's certificate");
  if (!trust(c, pki.authority.certificate)) return tls_error("cannot read the certificate authority");
  if (const auto authority = certificate_of(pki.authority.certificate);
      SSL_CTX_add_client_CA(c, authority.get()) != 1) {
    return tls_error("cannot name the certificate authority to clients");
  }
  return context;
}

}  // namespace berth::apiserver::http
