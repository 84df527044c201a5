#include "http/tls.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <string_view>

#include "base/openssl.h"

namespace berth::http {
namespace {

// All certificates of a PEM text in order, up to the first part that cannot be parsed.
std::vector<openssl::Certificate> certificates_of(std::string_view pem) {
  std::vector<openssl::Certificate> all;
  const auto bio = openssl::bio_of(pem);
  while (X509* one = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) all.emplace_back(one);
  ERR_clear_error();  // reaching the end of the text is also reported as an error
  return all;
}

bool use_credential(SSL_CTX* context, const Credential& c) {
  const auto chain = certificates_of(c.certificate);
  const openssl::Key key(PEM_read_bio_PrivateKey(openssl::bio_of(c.key).get(), nullptr, nullptr, nullptr));
  bool fine = !chain.empty() && key && SSL_CTX_use_certificate(context, chain[0].get()) == 1 &&
              SSL_CTX_use_PrivateKey(context, key.get()) == 1 && SSL_CTX_check_private_key(context) == 1;
  for (std::size_t i = 1; i < chain.size(); ++i) fine = fine && SSL_CTX_add1_chain_cert(context, chain[i].get()) == 1;
  return fine;
}

bool trust(SSL_CTX* context, std::string_view authorities_pem) {
  const auto authorities = certificates_of(authorities_pem);
  bool fine = !authorities.empty();
  for (const auto& a : authorities) {
    fine = fine && X509_STORE_add_cert(SSL_CTX_get_cert_store(context), a.get()) == 1 &&
           SSL_CTX_add_client_CA(context, a.get()) == 1;
  }
  return fine;
}

// Converts IANA names to OpenSSL's own names, separated by ":".
Result<std::string> openssl_names(const std::vector<std::string>& cipher_suites) {
  std::string names;
  for (const std::string& suite : cipher_suites) {
    const std::string_view name = OPENSSL_cipher_name(suite.c_str());
    if (name == "(NONE)") return fail("unknown cipher suite " + suite + ": expected an IANA name");
    names.append(names.empty() ? "" : ":").append(name);
  }
  return names;
}

// Selects HTTP/2 if the client offers it, else HTTP/1.1. If the client offers neither, no protocol is selected; the
// client decides what that means.
int select_protocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in, unsigned in_size,
                    void*) {
  static constexpr unsigned char kSpoken[] = "\x02h2\x08http/1.1";
  unsigned char* selected = nullptr;
  const int result = SSL_select_next_proto(&selected, out_size, kSpoken, sizeof kSpoken - 1, in, in_size);
  *out = selected;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

// Everything except the certificates.
Result<TlsContext> context_without_certificate(const ServerTls& tls) {
  TlsContext context(SSL_CTX_new(TLS_server_method()));
  if (!context) return openssl::failed("cannot set up TLS");
  SSL_CTX* const c = context.get();
  SSL_CTX_set_min_proto_version(c, tls.min_version == TlsVersion::k13 ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // No session resumption: a resumed session would reuse a client certificate without checking it again.
  SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(c, 0);
  SSL_CTX_set_mode(c, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(c, select_protocol, nullptr);
  const auto ciphers = openssl_names(tls.cipher_suites);
  if (!ciphers) return fail(ciphers.error().message);
  if (!ciphers->empty() && SSL_CTX_set_cipher_list(c, ciphers->c_str()) != 1)
    return openssl::failed("cannot use the cipher suites");
  std::string groups;
  for (const std::string& group : tls.groups) groups.append(groups.empty() ? "" : ":").append(group);
  if (!groups.empty() && SSL_CTX_set1_groups_list(c, groups.c_str()) != 1)
    return openssl::failed("cannot use the groups " + groups);
  return context;
}

}  // namespace

Result<void> check_tls_options(const ServerTls& tls) {
  const auto context = context_without_certificate(tls);
  if (!context) return tl::unexpected(context.error());
  return {};
}

Result<TlsContext> make_server_context(const ServerTls& tls) {
  auto context = context_without_certificate(tls);
  if (!context) return context;
  SSL_CTX* const c = context->get();
  if (!use_credential(c, tls.server)) return openssl::failed("cannot use the server's certificate and key");
  if (tls.client_authorities.empty()) return context;
  SSL_CTX_set_verify(c, SSL_VERIFY_PEER, nullptr);
  if (!trust(c, tls.client_authorities)) return openssl::failed("cannot read the authority of client certificates");
  return context;
}

}  // namespace berth::http
