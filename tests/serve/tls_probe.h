// A TLS client with exact versions and ciphers, which reports what was negotiated and which certificate the server
// sent.
#pragma once

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace berth::serve {

struct TlsProbe {
  bool connected = false;
  std::string certificate;  // PEM, the server's own
  std::string cipher;       // OpenSSL's name
  int version = 0;          // TLS1_2_VERSION, TLS1_3_VERSION
};

struct TlsWish {
  int min_version = TLS1_2_VERSION, max_version = TLS1_3_VERSION;
  std::string ciphers = {};  // of TLS 1.2, OpenSSL's names; empty: all
  std::string groups = {};   // for key exchange, OpenSSL's names; empty: all
};

// Does one handshake with 127.0.0.1, without verification.
inline TlsProbe probe_tls(std::uint16_t port, const TlsWish& wish = {}) {
  TlsProbe out;
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_min_proto_version(context, wish.min_version);
  SSL_CTX_set_max_proto_version(context, wish.max_version);
  if (!wish.ciphers.empty()) SSL_CTX_set_cipher_list(context, wish.ciphers.c_str());
  if (!wish.groups.empty()) SSL_CTX_set1_groups_list(context, wish.groups.c_str());
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  SSL* const ssl = SSL_new(context);
  SSL_set_fd(ssl, socket);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && SSL_connect(ssl) == 1) {
    out.connected = true;
    out.cipher = SSL_get_cipher_name(ssl);
    out.version = SSL_version(ssl);
    BIO* const text = BIO_new(BIO_s_mem());
    X509* const certificate = SSL_get1_peer_certificate(ssl);
    PEM_write_bio_X509(text, certificate);
    char* data = nullptr;
    const long size = BIO_get_mem_data(text, &data);
    out.certificate.assign(data, static_cast<std::size_t>(size));
    X509_free(certificate);
    BIO_free(text);
    SSL_shutdown(ssl);
  }
  SSL_free(ssl);
  ::close(socket);
  SSL_CTX_free(context);
  ERR_clear_error();
  return out;
}

}  // namespace berth::serve
