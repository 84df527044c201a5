#include "kube/transport/tls.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "base/openssl.h"

namespace berth::kube {
namespace {

using openssl::Bio;
using openssl::bio_of;
using openssl::Certificate;

Certificate next_certificate(BIO* bio) { return Certificate(PEM_read_bio_X509(bio, nullptr, nullptr, nullptr)); }

Result<void> trust(SSL_CTX* context, const TlsIdentity& identity) {
  if (identity.insecure) {
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
    return {};
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (identity.authority_pem.empty()) {
    if (SSL_CTX_set_default_verify_paths(context) != 1)
      return openssl::failed("cannot use the system's certificate authorities");
    return {};
  }
  const Bio bio = bio_of(identity.authority_pem);
  int count = 0;
  while (const Certificate authority = next_certificate(bio.get())) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1)
      return openssl::failed("cannot use the certificate authority");
    ++count;
  }
  if (count == 0) return openssl::failed("the certificate authority holds no PEM certificate");
  ERR_clear_error();  // the end of the list is an error to OpenSSL
  return {};
}

Result<void> show(SSL_CTX* context, const TlsIdentity& identity) {
  if (identity.certificate_pem.empty()) return {};
  const Bio certificates = bio_of(identity.certificate_pem);
  const Certificate leaf = next_certificate(certificates.get());
  if (!leaf || SSL_CTX_use_certificate(context, leaf.get()) != 1)
    return openssl::failed("the client certificate is no PEM certificate");
  while (Certificate next = next_certificate(certificates.get())) {
    if (SSL_CTX_add0_chain_cert(context, next.get()) != 1)
      return openssl::failed("cannot use the client certificate's chain");
    (void)next.release();  // the context owns it now
  }
  ERR_clear_error();
  const Bio bio = bio_of(identity.key_pem);
  const openssl::Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  if (!key) return openssl::failed("the client key is no PEM key without a passphrase");
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1)
    return openssl::failed("the client key does not belong to the client certificate");
  return {};
}

}  // namespace

Result<TlsContext> make_client_context(const TlsIdentity& identity) {
  TlsContext context(SSL_CTX_new(TLS_client_method()));
  if (!context) return openssl::failed("cannot set up TLS");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  if (auto done = trust(context.get(), identity); !done) return tl::unexpected(done.error());
  if (auto done = show(context.get(), identity); !done) return tl::unexpected(done.error());
  return context;
}

}  // namespace berth::kube
