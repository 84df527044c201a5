// The layer below HTTP of one connection: its socket, TLS (if any) and the client's identity.
#pragma once

#include <openssl/ssl.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "http/hub.h"

namespace berth::http {

// Use it on the socket's strand only.
class Transport {
 public:
  using TlsStream = boost::beast::ssl_stream<boost::beast::tcp_stream&>;
  using ErrorCode = boost::system::error_code;

  // The destructor calls `gone`.
  Transport(const std::shared_ptr<Hub>& hub, boost::asio::ip::tcp::socket socket, std::function<void()> gone);
  ~Transport();

  // Does the TLS handshake, if any, within kHandshakeTimeout; then `identity` and `certificate_error` are set. Must
  // not be destroyed before `then` is called.
  void handshake(std::function<void(ErrorCode)> then);
  bool speaks_http2() const;  // the client negotiated it (ALPN)

  // Calls `what` with the stream to read from and write to.
  template <typename F>
  void on_stream(F&& what) {
    if (tls_) {
      what(*tls_);
    } else {
      what(tcp);
    }
  }
  // Does the TLS shutdown, for at most one second, and closes. `keep` owns this object and keeps it alive. No other
  // operation may be pending.
  void close_politely(std::shared_ptr<void> keep);
  void close();

  auto get_executor() { return tcp.get_executor(); }

  boost::beast::tcp_stream tcp;
  const std::string peer_address;              // the client's IP address; "" when it has gone already
  std::optional<CertificateSubject> identity;  // from the verified client certificate
  std::string certificate_error;               // why the client's certificate is not trusted

 private:
  void learn_peer();

  boost::asio::steady_timer goodbye_;
  Hub::Tls context_;  // the TLS context at the start of the connection; later changes do not affect it
  std::optional<TlsStream> tls_;
  std::function<void()> gone_;
};

}  // namespace berth::http
