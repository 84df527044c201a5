// One TLS connection to the server, through a proxy if there is one, on the transport's I/O thread. Opens it and agrees
// with the server on a protocol; what is sent over it is the matter of Http1Connection and Http2Connection.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

#include "kube/transport/transport_options.h"

namespace berth::kube {

class TlsLink : public std::enable_shared_from_this<TlsLink> {
 public:
  using Context = std::shared_ptr<boost::asio::ssl::context>;
  using Tcp = boost::asio::ip::tcp;
  using ErrorCode = boost::system::error_code;
  TlsLink(boost::asio::io_context& io, Context context, const TransportOptions& options);

  // `error` is "" or says what failed: "cannot connect to 10.0.0.1:6443: Connection refused".
  void open(std::function<void(std::string error)> done);
  bool untrusted() const { return untrusted_; }  // open() failed because of the server's certificate
  bool http2() const { return http2_; }          // the server chose HTTP/2; otherwise it is HTTP/1.1
  const Context& context() const { return context_; }
  std::string authority() const;  // "10.0.0.1:6443"

  boost::asio::ssl::stream<Tcp::socket>& stream() { return stream_; }
  bool still_open();  // the server has not closed the idle connection
  void close();

  // Closes the connection after `timeout`; then describe() says `what`.
  void arm(Duration timeout, std::string what);
  void disarm() { timer_.cancel(); }
  std::string describe(const ErrorCode& error) const;

 private:
  using OpenDone = std::function<void(std::string)>;

  void connect(const Tcp::resolver::results_type& addresses, OpenDone done);
  void ask_proxy(OpenDone done);
  void handshake(OpenDone done);
  std::string handshake_error(const ErrorCode& error);

  Context context_;
  const TransportOptions& options_;
  Tcp::resolver resolver_;
  boost::asio::ssl::stream<Tcp::socket> stream_;
  boost::asio::steady_timer timer_;
  std::string overdue_;  // why the timer closed the connection; empty: it did not
  struct ProxyExchange;
  std::shared_ptr<ProxyExchange> proxy_;
  bool untrusted_ = false;
  bool http2_ = false;
};

}  // namespace berth::kube
