// HTTP/1.1 over an open link, on the transport's I/O thread: one request at a time, with a whole or a long answer.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kube/transport/long_answer.h"
#include "kube/transport/tls_link.h"

namespace berth::kube {

class Http1Connection final : public LongAnswer, public std::enable_shared_from_this<Http1Connection> {
 public:
  explicit Http1Connection(std::shared_ptr<TlsLink> link);

  // `done` gets the whole answer. Afterwards reusable() says whether the connection can take another request.
  void call(HttpRequest request, Duration timeout, ReplyHandler done);
  void start(HttpRequest request, Duration timeout, ReplyHandler on_head) override;
  void read_piece(Duration silence, std::function<void(Piece)> done) override;
  void close() override;

  bool reusable() const { return reusable_; }
  TlsLink& link() { return *link_; }

 private:
  using ErrorCode = TlsLink::ErrorCode;

  void send(const HttpRequest& request, Duration timeout, std::function<void(std::string)> done);
  void read_refusal(HttpReply head, ReplyHandler on_head);

  std::shared_ptr<TlsLink> link_;
  boost::beast::flat_buffer buffer_;
  std::string request_;  // while it is sent
  std::optional<boost::beast::http::response_parser<boost::beast::http::string_body>> whole_;
  std::optional<boost::beast::http::response_parser<boost::beast::http::buffer_body>> pieces_;
  std::string piece_;
  bool reusable_ = true;
};

}  // namespace berth::kube
