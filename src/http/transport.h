// What a connection is made of below HTTP: its socket, TLS (if any), who is at the other end, and its place
// among the connections.
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

// On the socket's strand.
class Transport {
 public:
  using TlsStream = boost::beast::ssl_stream<boost::beast::tcp_stream&>;
  using ErrorCode = boost::system::error_code;

  // `gone` is called when it is destroyed.
  Transport(const std::shared_ptr<Hub>& hub, boost::asio::ip::tcp::socket socket, std::function<void()> gone);
  ~Transport();

  // With TLS, within kHandshakeTimeout; then it is known who is there. Must not be destroyed before `then`
  // was called.
  void handshake(std::function<void(ErrorCode)> then);
  bool speaks_http2() const;  // the client asked for it (ALPN)

  // Calls `what` with the stream that bytes come from.
  template <typename F>
  void on_stream(F&& what) {
    if (tls_) {
      what(*tls_);
    } else {
      what(tcp);
    }
  }
  // Says goodbye, for a second, and closes. `keep` is whose part this is. Nothing else may be on its way.
  void close_politely(std::shared_ptr<void> keep);
  void close();

  auto get_executor() { return tcp.get_executor(); }

  boost::beast::tcp_stream tcp;
  std::optional<CertificateSubject> identity;  // of the verified client certificate
  std::string certificate_error;               // why one that was presented is not trusted

 private:
  void learn_peer();

  boost::asio::steady_timer goodbye_;
  Hub::Tls context_;  // a connection keeps the one that it began with
  std::optional<TlsStream> tls_;
  std::function<void()> gone_;
};

}  // namespace berth::http
