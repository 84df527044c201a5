#include "kube/transport/http1.h"

#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>

namespace berth::kube {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

constexpr std::size_t kPieceBytes = 16 * 1024;  // as much as TLS sends in one record

// Head and body in one buffer: TLS encrypts and sends each buffer separately.
std::string to_text(const HttpRequest& request, std::string_view host) {
  std::string text;
  text.reserve(512 + request.target.size() + request.body.size());
  const auto line = [&text](std::string_view name, std::string_view value) {
    text.append(name).append(": ").append(value).append("\r\n");
  };
  text.append(request.method).append(" ").append(request.target).append(" HTTP/1.1\r\n");
  line("Host", host);
  for (const auto& [name, value] : request.headers) line(name, value);
  if (!request.body.empty() || (request.method != "GET" && request.method != "HEAD"))
    line("Content-Length", std::to_string(request.body.size()));
  return text.append("\r\n").append(request.body);
}

template <typename Message>
HttpReply head_of(const Message& message) {
  HttpReply reply;
  reply.status = static_cast<int>(message.result_int());
  reply.sent = true;
  for (const auto& header : message) {
    const auto name = header.name_string(), value = header.value();
    take_header(reply, {name.data(), name.size()}, {value.data(), value.size()});
  }
  return reply;
}

}  // namespace

Http1Connection::Http1Connection(std::shared_ptr<TlsLink> link) : link_(std::move(link)) {
  buffer_.reserve(kPieceBytes);  // most answers are read at once
}

void Http1Connection::send(const HttpRequest& request, Duration timeout, std::function<void(std::string)> done) {
  request_ = to_text(request, link_->authority());
  reusable_ = false;
  link_->arm(timeout, overdue_text(timeout));
  asio::async_write(
      link_->stream(), asio::buffer(request_),
      [self = shared_from_this(), done = std::move(done)](const ErrorCode& error, std::size_t) {
        self->request_ = {};
        done(error ? "the connection broke while sending: " + self->link_->describe(error) : std::string());
      });
}

void Http1Connection::call(HttpRequest request, Duration timeout, ReplyHandler done) {
  auto self = shared_from_this();
  const bool head = request.method == "HEAD";
  send(request, timeout, [self, head, done = std::move(done)](const std::string& error) {
    if (!error.empty()) {
      self->link_->disarm();
      return done(without_answer(error, true));
    }
    self->whole_.emplace();
    self->whole_->header_limit(static_cast<std::uint32_t>(kMaxHeaderBytes));
    self->whole_->body_limit(kMaxReplyBytes);
    if (head) self->whole_->skip(true);
    http::async_read(
        self->link_->stream(), self->buffer_, *self->whole_, [self, done](const ErrorCode& failure, std::size_t) {
          self->link_->disarm();
          HttpReply reply = without_answer({}, true);
          if (failure) {
            reply.error = "the connection broke while waiting for the answer: " + self->link_->describe(failure);
          } else {
            reply = head_of(self->whole_->get());
            self->reusable_ = self->whole_->get().keep_alive();
            reply.body = std::move(self->whole_->get().body());
          }
          self->whole_.reset();
          done(std::move(reply));
        });
  });
}

void Http1Connection::start(HttpRequest request, Duration timeout, ReplyHandler on_head) {
  auto self = shared_from_this();
  send(request, timeout, [self, on_head = std::move(on_head)](const std::string& error) {
    if (!error.empty()) return on_head(without_answer(error, true));
    self->pieces_.emplace();
    self->pieces_->header_limit(static_cast<std::uint32_t>(kMaxHeaderBytes));
    self->pieces_->body_limit(boost::none);
    http::async_read_header(
        self->link_->stream(), self->buffer_, *self->pieces_, [self, on_head](const ErrorCode& failure, std::size_t) {
          self->link_->disarm();
          if (failure) {
            return on_head(without_answer(
                "the connection broke while waiting for the answer: " + self->link_->describe(failure), true));
          }
          HttpReply reply = head_of(self->pieces_->get());
          if (reply.status == 200) return on_head(std::move(reply));
          self->read_refusal(std::move(reply), on_head);
        });
  });
}

void Http1Connection::read_refusal(HttpReply head, ReplyHandler on_head) {
  whole_.emplace(std::move(*pieces_));
  whole_->body_limit(kMaxReplyBytes);
  link_->arm(kConnectTimeout, "the answer did not end within 10 s");
  http::async_read(link_->stream(), buffer_, *whole_,
                   [self = shared_from_this(), head = std::move(head), on_head = std::move(on_head)](
                       const ErrorCode& late, std::size_t) mutable {
                     self->link_->disarm();
                     if (!late) head.body = std::move(self->whole_->get().body());
                     on_head(std::move(head));
                   });
}

void Http1Connection::read_piece(Duration silence, std::function<void(Piece)> done) {
  if (pieces_->is_done()) return done({{}, true, {}});
  piece_.resize(kPieceBytes);
  auto& body = pieces_->get().body();
  body.data = piece_.data();
  body.size = piece_.size();
  link_->arm(silence, "nothing was heard for too long");
  http::async_read_some(link_->stream(), buffer_, *pieces_,
                        [self = shared_from_this(), done = std::move(done)](ErrorCode error, std::size_t) {
                          self->link_->disarm();
                          if (error == http::error::need_buffer) error = {};
                          Piece piece;
                          piece.bytes.assign(self->piece_, 0, self->piece_.size() - self->pieces_->get().body().size);
                          if (error) {
                            piece.ended = true;
                            piece.error = self->link_->describe(error);
                          }
                          done(std::move(piece));
                        });
}

void Http1Connection::close() {
  reusable_ = false;
  link_->close();
}

}  // namespace berth::kube
