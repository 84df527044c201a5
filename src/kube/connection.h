// One TLS connection to the server, on the transport's I/O thread: opens it, sends one request at a time, reads whole
// answers or a long answer in pieces.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kube/transport.h"

namespace berth::kube {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Context = std::shared_ptr<boost::asio::ssl::context>;
  Connection(boost::asio::io_context& io, Context context, const TransportOptions& options);

  // `error` is "" or says what failed: "cannot connect to 10.0.0.1:6443: Connection refused".
  void open(std::function<void(std::string error)> done);
  // `done` gets the whole answer. Afterwards reusable() says whether the connection can take another request.
  void call(HttpRequest request, Duration timeout, std::function<void(HttpReply)> done);
  // `on_head` gets the head of a long answer with status 200; any other answer is complete, with its body.
  void start_stream(HttpRequest request, Duration timeout, std::function<void(HttpReply)> on_head);
  // The next piece of a long answer. `ended`: there are no more; `error` is "" when the answer is complete, else says
  // what failed.
  struct Piece {
    std::string bytes;
    bool ended = false;
    std::string error;
  };
  void read_piece(Duration silence, std::function<void(Piece)> done);

  bool reusable() const { return reusable_; }
  bool untrusted() const { return untrusted_; }  // open() failed because of the server's certificate
  bool still_open();                             // the server has not closed the idle connection
  void close();

  const Context& context() const { return context_; }

 private:
  using Tcp = boost::asio::ip::tcp;
  using ErrorCode = boost::system::error_code;
  using OpenDone = std::function<void(std::string)>;

  void connect(const Tcp::resolver::results_type& addresses, OpenDone done);
  void ask_proxy(OpenDone done);
  void handshake(OpenDone done);
  void send(const HttpRequest& request, Duration timeout, std::function<void(std::string)> done);
  void arm(Duration timeout, std::string what);
  void disarm();
  std::string describe(const ErrorCode& error) const;
  std::string handshake_error(const ErrorCode& error);
  template <typename Message>
  static HttpReply head_of(const Message& message);

  Context context_;
  const TransportOptions& options_;
  Tcp::resolver resolver_;
  boost::asio::ssl::stream<Tcp::socket> stream_;
  boost::asio::steady_timer timer_;
  std::string overdue_;  // why the timer closed the connection; empty: it did not
  boost::beast::flat_buffer buffer_;
  std::string request_;  // while it is sent
  std::optional<boost::beast::http::response_parser<boost::beast::http::string_body>> whole_;
  std::optional<boost::beast::http::response_parser<boost::beast::http::buffer_body>> pieces_;
  std::string piece_;
  std::string proxy_request_;
  std::optional<boost::beast::http::response_parser<boost::beast::http::string_body>> proxy_answer_;
  bool reusable_ = false;
  bool untrusted_ = false;
};

}  // namespace berth::kube
