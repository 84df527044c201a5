#include "kube/connection.h"

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <charconv>
#include <chrono>

namespace berth::kube {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

constexpr std::size_t kPieceBytes = 16 * 1024;  // as much as TLS sends in one record
constexpr std::uint32_t kMaxHeaderBytes = 64 * 1024;
constexpr unsigned char kTlsAlert = 0x15;

std::string endpoint(const std::string& host, std::uint16_t port) { return host + ":" + std::to_string(port); }

// The quoted text of a Warning header: 299 - "text".
std::string warning_text(std::string_view value) {
  const std::size_t begin = value.find('"');
  if (begin == std::string_view::npos) return std::string(value);
  std::string text;
  for (std::size_t i = begin + 1; i < value.size() && value[i] != '"'; ++i) {
    if (value[i] == '\\' && i + 1 < value.size()) ++i;
    text += value[i];
  }
  return text;
}

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

}  // namespace

Connection::Connection(asio::io_context& io, Context context, const TransportOptions& options)
    : context_(std::move(context)), options_(options), resolver_(io), stream_(io, *context_), timer_(io) {
  buffer_.reserve(kPieceBytes);  // most answers are read at once
}

// --- Opening.

void Connection::open(OpenDone done) {
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

void Connection::connect(const Tcp::resolver::results_type& addresses, OpenDone done) {
  asio::async_connect(
      stream_.next_layer(), addresses,
      [self = shared_from_this(), done = std::move(done)](const ErrorCode& error, const Tcp::endpoint&) {
        const TransportOptions& o = self->options_;
        if (error) {
          const std::string where =
              o.proxy_host.empty() ? endpoint(o.host, o.port) : "the proxy " + endpoint(o.proxy_host, o.proxy_port);
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

void Connection::ask_proxy(OpenDone done) {
  const std::string target = endpoint(options_.host, options_.port);
  proxy_request_ = "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n";
  if (!options_.proxy_authorization.empty())
    proxy_request_ += "Proxy-Authorization: " + options_.proxy_authorization + "\r\n";
  proxy_request_ += "\r\n";
  auto self = shared_from_this();
  asio::async_write(
      stream_.next_layer(), asio::buffer(proxy_request_), [self, done](const ErrorCode& error, std::size_t) {
        if (error) return done("the proxy broke the connection: " + self->describe(error));
        self->proxy_answer_.emplace();
        self->proxy_answer_->skip(true);  // an answer to CONNECT has no body
        http::async_read_header(self->stream_.next_layer(), self->buffer_, *self->proxy_answer_,
                                [self, done](const ErrorCode& failure, std::size_t) {
                                  if (failure)
                                    return done("the proxy broke the connection: " + self->describe(failure));
                                  const unsigned status = self->proxy_answer_->get().result_int();
                                  if (status != 200) return done("the proxy refused: HTTP " + std::to_string(status));
                                  self->buffer_.clear();
                                  self->handshake(done);
                                });
      });
}

void Connection::handshake(OpenDone done) {
  const std::string& name = options_.server_name.empty() ? options_.host : options_.server_name;
  ErrorCode no_address;
  asio::ip::make_address(name, no_address);
  // SNI takes names only, no addresses.
  if (no_address) SSL_set_tlsext_host_name(stream_.native_handle(), name.c_str());
  stream_.set_verify_callback(asio::ssl::host_name_verification(name));
  stream_.async_handshake(asio::ssl::stream_base::client,
                          [self = shared_from_this(), done = std::move(done)](const ErrorCode& error) {
                            self->disarm();
                            self->reusable_ = !error;
                            done(error ? self->handshake_error(error) : std::string());
                          });
}

std::string Connection::handshake_error(const ErrorCode& error) {
  const std::string where = endpoint(options_.host, options_.port);
  const long verdict = SSL_get_verify_result(stream_.native_handle());
  if (overdue_.empty() && verdict != X509_V_OK &&
      SSL_CTX_get_verify_mode(context_->native_handle()) != SSL_VERIFY_NONE) {
    untrusted_ = true;
    return "the certificate of " + where + " cannot be trusted: " + X509_verify_cert_error_string(verdict);
  }
  return "no TLS connection with " + where + ": " + describe(error);
}

// --- Requests.

void Connection::send(const HttpRequest& request, Duration timeout, std::function<void(std::string)> done) {
  request_ = to_text(request, endpoint(options_.host, options_.port));
  reusable_ = false;
  arm(timeout,
      "no answer within " + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(timeout).count()) + " s");
  asio::async_write(stream_, asio::buffer(request_),
                    [self = shared_from_this(), done = std::move(done)](const ErrorCode& error, std::size_t) {
                      self->request_ = {};
                      done(error ? "the connection broke while sending: " + self->describe(error) : std::string());
                    });
}

template <typename Message>
HttpReply Connection::head_of(const Message& message) {
  HttpReply reply;
  reply.status = static_cast<int>(message.result_int());
  reply.sent = true;
  const auto retry = message[http::field::retry_after];
  std::int64_t seconds = 0;
  if (std::from_chars(retry.data(), retry.data() + retry.size(), seconds).ec == std::errc() && seconds >= 0 &&
      !retry.empty())
    reply.retry_after_seconds = seconds;
  const auto [first, last] = message.equal_range("Warning");
  for (auto it = first; it != last; ++it)
    reply.warnings.push_back(warning_text({it->value().data(), it->value().size()}));
  return reply;
}

void Connection::call(HttpRequest request, Duration timeout, std::function<void(HttpReply)> done) {
  auto self = shared_from_this();
  const bool head = request.method == "HEAD";
  send(request, timeout, [self, head, done = std::move(done)](const std::string& error) {
    if (!error.empty()) {
      self->disarm();
      return done(HttpReply{.error = error, .sent = true, .retry_after_seconds = {}, .warnings = {}, .body = {}});
    }
    self->whole_.emplace();
    self->whole_->header_limit(kMaxHeaderBytes);
    self->whole_->body_limit(kMaxReplyBytes);
    if (head) self->whole_->skip(true);
    http::async_read(self->stream_, self->buffer_, *self->whole_, [self, done](const ErrorCode& failure, std::size_t) {
      self->disarm();
      HttpReply reply{.error = {}, .sent = true, .retry_after_seconds = {}, .warnings = {}, .body = {}};
      if (failure) {
        reply.error = "the connection broke while waiting for the answer: " + self->describe(failure);
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

// --- Streams.

void Connection::start_stream(HttpRequest request, Duration timeout, std::function<void(HttpReply)> on_head) {
  auto self = shared_from_this();
  send(request, timeout, [self, on_head = std::move(on_head)](const std::string& error) {
    const auto broke = [](std::string why) {
      return HttpReply{.error = std::move(why), .sent = true, .retry_after_seconds = {}, .warnings = {}, .body = {}};
    };
    if (!error.empty()) return on_head(broke(error));
    self->pieces_.emplace();
    self->pieces_->header_limit(kMaxHeaderBytes);
    self->pieces_->body_limit(boost::none);
    http::async_read_header(
        self->stream_, self->buffer_, *self->pieces_, [self, on_head, broke](const ErrorCode& failure, std::size_t) {
          self->disarm();
          if (failure)
            return on_head(broke("the connection broke while waiting for the answer: " + self->describe(failure)));
          HttpReply reply = head_of(self->pieces_->get());
          if (reply.status == 200) return on_head(std::move(reply));
          self->whole_.emplace(std::move(*self->pieces_));
          self->whole_->body_limit(kMaxReplyBytes);
          self->arm(kConnectTimeout, "the answer did not end within 10 s");
          http::async_read(self->stream_, self->buffer_, *self->whole_,
                           [self, on_head, reply](const ErrorCode& late, std::size_t) mutable {
                             self->disarm();
                             if (!late) reply.body = std::move(self->whole_->get().body());
                             on_head(std::move(reply));
                           });
        });
  });
}

void Connection::read_piece(Duration silence, std::function<void(Piece)> done) {
  if (pieces_->is_done()) return done({{}, true, {}});
  piece_.resize(kPieceBytes);
  auto& body = pieces_->get().body();
  body.data = piece_.data();
  body.size = piece_.size();
  arm(silence, "nothing was heard for too long");
  http::async_read_some(stream_, buffer_, *pieces_,
                        [self = shared_from_this(), done = std::move(done)](ErrorCode error, std::size_t) {
                          self->disarm();
                          if (error == http::error::need_buffer) error = {};
                          Piece piece;
                          piece.bytes.assign(self->piece_, 0, self->piece_.size() - self->pieces_->get().body().size);
                          if (error) {
                            piece.ended = true;
                            piece.error = self->describe(error);
                          }
                          done(std::move(piece));
                        });
}

// --- Ends.

// Unread bytes on an idle connection are either a session ticket, which the next read consumes, or the TLS alert of a
// server that closes the connection.
bool Connection::still_open() {
  unsigned char first = 0;
  const auto n = ::recv(stream_.next_layer().native_handle(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
  if (n == 0) return false;
  return n < 0 ? errno == EAGAIN || errno == EWOULDBLOCK : first != kTlsAlert;
}

void Connection::close() {
  reusable_ = false;
  timer_.cancel();
  resolver_.cancel();
  ErrorCode ignored;
  stream_.next_layer().close(ignored);
}

void Connection::arm(Duration timeout, std::string what) {
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

void Connection::disarm() { timer_.cancel(); }

std::string Connection::describe(const ErrorCode& error) const { return overdue_.empty() ? error.message() : overdue_; }

}  // namespace berth::kube
