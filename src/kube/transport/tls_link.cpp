#include "kube/transport/tls_link.h"

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <string_view>

namespace berth::kube {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

constexpr unsigned char kTlsAlert = 0x15;

std::string endpoint(const std::string& host, std::uint16_t port) { return host + ":" + std::to_string(port); }

// The protocols that are offered, each with its length before it (RFC 7301).
void offer_protocols(SSL* ssl, bool http2) {
  static constexpr unsigned char kBoth[] = "\x02h2\x08http/1.1";
  constexpr std::size_t kSkipHttp2 = 3;
  const std::size_t skip = http2 ? 0 : kSkipHttp2;
  SSL_set_alpn_protos(ssl, kBoth + skip, static_cast<unsigned>(sizeof kBoth - 1 - skip));
}

bool chose_http2(const SSL* ssl) {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl, &name, &size);
  return std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
}

}  // namespace

struct TlsLink::ProxyExchange {
  std::string request;
  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> answer;
};

TlsLink::TlsLink(asio::io_context& io, Context context, const TransportOptions& options)
    : context_(std::move(context)), options_(options), resolver_(io), stream_(io, *context_), timer_(io) {}

std::string TlsLink::authority() const { return endpoint(options_.host, options_.port); }

// --- Opening.

void TlsLink::open(OpenDone done) {
  const std::string& host = options_.proxy_host.empty() ? options_.host : options_.proxy_host;
  const std::uint16_t port = options_.proxy_host.empty() ? options_.port : options_.proxy_port;
  arm(kConnectTimeout, "no connection within 10 s");
  resolver_.async_resolve(
      host, std::to_string(port),
      [self = shared_from_this(), host, done](const ErrorCode& error, const Tcp::resolver::results_type& addresses) {
        if (error) return done("cannot find the host " + host + ": " + self->describe(error));
        self->connect(addresses, done);
      });
}

void TlsLink::connect(const Tcp::resolver::results_type& addresses, OpenDone done) {
  asio::async_connect(
      stream_.next_layer(), addresses,
      [self = shared_from_this(), done = std::move(done)](const ErrorCode& error, const Tcp::endpoint&) {
        const TransportOptions& o = self->options_;
        if (error) {
          const std::string where =
              o.proxy_host.empty() ? self->authority() : "the proxy " + endpoint(o.proxy_host, o.proxy_port);
          return done("cannot connect to " + where + ": " + self->describe(error));
        }
        ErrorCode ignored;
        self->stream_.next_layer().set_option(Tcp::no_delay(true), ignored);
        self->stream_.next_layer().set_option(asio::socket_base::keep_alive(true), ignored);
        if (o.proxy_host.empty()) {
          self->handshake(done);
        } else {
          self->ask_proxy(done);
        }
      });
}

void TlsLink::ask_proxy(OpenDone done) {
  proxy_ = std::make_shared<ProxyExchange>();
  proxy_->request = "CONNECT " + authority() + " HTTP/1.1\r\nHost: " + authority() + "\r\n";
  if (!options_.proxy_authorization.empty())
    proxy_->request += "Proxy-Authorization: " + options_.proxy_authorization + "\r\n";
  proxy_->request += "\r\n";
  proxy_->answer.skip(true);  // an answer to CONNECT has no body
  auto self = shared_from_this();
  asio::async_write(
      stream_.next_layer(), asio::buffer(proxy_->request), [self, done](const ErrorCode& error, std::size_t) {
        if (error) return done("the proxy broke the connection: " + self->describe(error));
        ProxyExchange& proxy = *self->proxy_;
        http::async_read_header(self->stream_.next_layer(), proxy.buffer, proxy.answer,
                                [self, done](const ErrorCode& failure, std::size_t) {
                                  if (failure)
                                    return done("the proxy broke the connection: " + self->describe(failure));
                                  const unsigned status = self->proxy_->answer.get().result_int();
                                  self->proxy_.reset();
                                  if (status != 200) return done("the proxy refused: HTTP " + std::to_string(status));
                                  self->handshake(done);
                                });
      });
}

void TlsLink::handshake(OpenDone done) {
  const std::string& name = options_.server_name.empty() ? options_.host : options_.server_name;
  ErrorCode no_address;
  asio::ip::make_address(name, no_address);
  // SNI takes names only, no addresses.
  if (no_address) SSL_set_tlsext_host_name(stream_.native_handle(), name.c_str());
  offer_protocols(stream_.native_handle(), options_.http2);
  stream_.set_verify_callback(asio::ssl::host_name_verification(name));
  stream_.async_handshake(asio::ssl::stream_base::client,
                          [self = shared_from_this(), done = std::move(done)](const ErrorCode& error) {
                            self->disarm();
                            self->http2_ = !error && chose_http2(self->stream_.native_handle());
                            done(error ? self->handshake_error(error) : std::string());
                          });
}

std::string TlsLink::handshake_error(const ErrorCode& error) {
  const long verdict = SSL_get_verify_result(stream_.native_handle());
  if (overdue_.empty() && verdict != X509_V_OK &&
      SSL_CTX_get_verify_mode(context_->native_handle()) != SSL_VERIFY_NONE) {
    untrusted_ = true;
    return "the certificate of " + authority() + " cannot be trusted: " + X509_verify_cert_error_string(verdict);
  }
  return "no TLS connection with " + authority() + ": " + describe(error);
}

// --- Ends.

// Unread bytes on an idle connection are either a session ticket, which the next read consumes, or the TLS alert of a
// server that closes the connection.
bool TlsLink::still_open() {
  unsigned char first = 0;
  const auto n = ::recv(stream_.next_layer().native_handle(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
  if (n == 0) return false;
  return n < 0 ? errno == EAGAIN || errno == EWOULDBLOCK : first != kTlsAlert;
}

void TlsLink::close() {
  timer_.cancel();
  resolver_.cancel();
  ErrorCode ignored;
  stream_.next_layer().close(ignored);
}

void TlsLink::arm(Duration timeout, std::string what) {
  overdue_.clear();
  timer_.expires_after(timeout);
  timer_.async_wait([weak = weak_from_this(), what = std::move(what)](const ErrorCode& error) {
    const auto self = weak.lock();
    if (error || !self) return;
    self->overdue_ = what;
    self->resolver_.cancel();
    ErrorCode ignored;
    self->stream_.next_layer().close(ignored);
  });
}

std::string TlsLink::describe(const ErrorCode& error) const { return overdue_.empty() ? error.message() : overdue_; }

}  // namespace berth::kube
