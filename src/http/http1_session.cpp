#include "http/http1_session.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <cstdio>

#include "http/date.h"

namespace berth::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

namespace {

constexpr std::size_t kMaxBatchEvents = 64;  // events of a watch that one write sends

std::string head_of(int status, const std::vector<Header>& headers, bool closing) {
  const auto reason = beast::http::obsolete_reason(static_cast<beast::http::status>(status));
  std::string head = "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason) + "\r\n";
  for (const Header& h : headers) head += h.name + ": " + h.value + "\r\n";
  head += "Date: " + http_date() + "\r\n";
  if (closing) head += "Connection: close\r\n";
  return head;
}

}  // namespace

Http1Session::Http1Session(std::shared_ptr<Hub> hub, std::unique_ptr<Transport> transport)
    : hub_(std::move(hub)), transport_(std::move(transport)), patience_(transport_->get_executor()) {
  hub_->add(this);
}

Http1Session::~Http1Session() { hub_->remove(this); }

// Writes out_, then calls `then`. A write error closes the connection.
template <typename Then>
void Http1Session::write_out(Then&& then) {
  transport_->tcp.expires_after(kWriteTimeout);
  transport_->on_stream([this, &then](auto& stream) {
    asio::async_write(stream, asio::buffer(out_),
                      [self = self(), then = std::forward<Then>(then)](error_code error, std::size_t) {
                        if (error) return self->close();
                        then(*self);
                      });
  });
}

void Http1Session::wait_for_request() {
  if (closing_ || hub_->stopping) return close();
  state_ = State::kIdle;
  parser_.emplace();
  parser_->header_limit(kMaxHeaderBytes);
  // on_header() sets the limit: a body that is too large must get a response, not a broken connection.
  parser_->body_limit(boost::none);
  if (buffer_.size() > 0) return read_header();
  transport_->tcp.expires_after(kIdleTimeout);
  transport_->on_stream([this](auto& stream) {
    stream.async_read_some(buffer_.prepare(4096), [self = self()](error_code error, std::size_t n) {
      if (error || self->state_ == State::kClosed) return self->close();
      self->buffer_.commit(n);
      self->read_header();
    });
  });
}

void Http1Session::read_header() {
  state_ = State::kReading;
  transport_->tcp.expires_after(kHeaderTimeout);
  transport_->on_stream([this](auto& stream) {
    beast::http::async_read_header(stream, buffer_, *parser_, [self = self()](error_code error, std::size_t) {
      if (self->state_ == State::kClosed) return;
      if (!error) return self->on_header();
      self->on_bad_header(error);
    });
  });
}

void Http1Session::on_bad_header(error_code error) {
  closing_ = true;
  if (error == beast::http::error::header_limit) {
    return refuse(
        plain_text(431, "the request's header is larger than " + std::to_string(kMaxHeaderBytes) + " bytes\n"));
  }
  if (error.category() == beast::http::make_error_code(beast::http::error::bad_method).category() &&
      error != beast::http::error::end_of_stream && error != beast::http::error::partial_message) {
    return refuse(plain_text(400, "400 Bad Request: " + error.message() + "\n"));
  }
  close();
}

void Http1Session::on_header() {
  const auto& header = parser_->get();
  const auto length = parser_->content_length();
  const bool expects = beast::iequals(header[beast::http::field::expect], "100-continue");
  if (length && *length > hub_->max_body_bytes) {
    closing_ = true;
    if (expects || *length > kMaxDrainBytes) return take_turn(true);
    const std::uint64_t here = std::min<std::uint64_t>(buffer_.size(), *length);
    buffer_.consume(static_cast<std::size_t>(here));
    transport_->tcp.expires_after(kBodyTimeout);
    return drain(*length - here);
  }
  parser_->body_limit(hub_->max_body_bytes);
  if (!expects) return read_body();
  out_ = "HTTP/1.1 100 Continue\r\n\r\n";
  write_out([](Http1Session& self) { self.read_body(); });
}

void Http1Session::drain(std::uint64_t left) {
  if (left == 0) return take_turn(true);
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(left, scratch_.size()));
  transport_->on_stream([this, left, size](auto& stream) {
    stream.async_read_some(asio::buffer(scratch_, size), [self = self(), left](error_code error, std::size_t n) {
      if (error) return self->close();
      self->drain(left - n);
    });
  });
}

void Http1Session::read_body() {
  transport_->tcp.expires_after(kBodyTimeout);
  transport_->on_stream([this](auto& stream) {
    beast::http::async_read(stream, buffer_, *parser_, [self = self()](error_code error, std::size_t) {
      if (self->state_ == State::kClosed) return;
      if (error == beast::http::error::body_limit) {
        self->closing_ = true;
        return self->take_turn(true);
      }
      if (error) return self->close();
      self->take_turn(false);
    });
  });
}

// Takes a turn for the request, or waits for one while too many requests are in flight.
void Http1Session::take_turn(bool too_large) {
  auto message = parser_->release();
  closing_ = closing_ || !message.keep_alive();
  method_ = std::string(message.method_string());
  request_ = {};
  request_.method = method_;
  request_.target = std::string(message.target());
  for (const auto& field : message)
    request_.headers.push_back({std::string(field.name_string()), std::string(field.value())});
  if (!too_large) request_.body = std::move(message.body());
  request_.body_too_large = too_large;
  request_.peer = transport_->identity;
  request_.peer_address = transport_->peer_address;
  request_.peer_error = transport_->certificate_error;
  transport_->tcp.expires_never();
  state_ = State::kWaiting;
  const Turns::Kind kind = Turns::kind_of(method_);
  bool& asked = asked_for_turn_[kind == Turns::Kind::kRead ? 0 : 1];
  if (!asked) {
    if (hub_->turns.take(kind, self())) return dispatch();
    asked = true;
  }
  patience_.expires_after(hub_->turn_timeout);
  patience_.async_wait([self = self()](error_code cancelled) {
    const bool over = !cancelled && self->patience_.expiry() <= std::chrono::steady_clock::now();
    if (over && self->state_ == State::kWaiting) self->refuse(self->hub_->handler.overloaded());
  });
}

void Http1Session::on_turn(Turns::Kind kind) {
  asio::post(transport_->get_executor(), [self = self(), kind] {
    self->asked_for_turn_[kind == Turns::Kind::kRead ? 0 : 1] = false;
    const bool wanted = self->state_ == State::kWaiting && Turns::kind_of(self->method_) == kind;
    if (!wanted) return self->hub_->turns.give_back(kind);
    self->dispatch();
  });
}

void Http1Session::dispatch() {
  state_ = State::kWorking;
  patience_.cancel();
  call_.emplace(hub_, Call::Origin{self(), 0, transport_->get_executor()}, Turns::kind_of(method_),
                std::move(request_));
}

void Http1Session::on_response(Stream, HttpResponse response) {
  if (state_ == State::kWorking) write(std::move(response));
}

void Http1Session::refuse(HttpResponse response) {
  state_ = State::kWorking;
  write(std::move(response));
}

void Http1Session::write(HttpResponse response) {
  const bool bodiless = response.status == 304 || response.status == 204;
  if (hub_->stopping) closing_ = true;
  out_ = head_of(response.status, response.headers, closing_);
  if (!bodiless) out_ += "Content-Length: " + std::to_string(response.body.size()) + "\r\n";
  out_ += "\r\n";
  if (!bodiless && method_ != "HEAD") out_ += response.body;
  write_out([](Http1Session& self) { self.finish_request(); });
}

void Http1Session::finish_request() {
  call_.reset();
  constexpr std::size_t kKeptBytes = 64 * 1024;  // an idle connection does not keep a larger buffer
  if (out_.capacity() > kKeptBytes) out_ = std::string();
  wait_for_request();
}

void Http1Session::on_begin(Stream, int status, std::vector<Header> headers) {
  if (state_ != State::kWorking) return;
  state_ = State::kStreaming;
  stream_ended_ = hub_->stopping;
  closing_ = true;
  call_->streams();
  auto head = head_of(status, headers, true) + "Transfer-Encoding: chunked\r\n\r\n";
  writing_ = true;
  out_ = std::move(head);
  transport_->tcp.expires_never();
  watch_for_close();
  write_out([](Http1Session& self) {
    self.writing_ = false;
    self.flush();
  });
}

// An outstanding read detects that the client has disconnected. Bytes that the client sends during a watch are
// ignored.
void Http1Session::watch_for_close() {
  transport_->on_stream([this](auto& stream) {
    stream.async_read_some(asio::buffer(scratch_), [self = self()](error_code error, std::size_t) {
      if (error) return self->close();
      self->watch_for_close();
    });
  });
}

void Http1Session::on_chunk(Stream, SharedBytes bytes) {
  if (state_ != State::kStreaming) return;
  backlog_.push_back(std::move(bytes));
  if (!writing_) flush();
}

void Http1Session::on_end(Stream) {
  if (state_ != State::kStreaming) return;
  stream_ended_ = true;
  if (!writing_) flush();
}

// Writes the waiting events as one chunk. At most one write is in progress.
void Http1Session::flush() {
  if (state_ != State::kStreaming) return;
  if (backlog_.empty() && !stream_ended_) return;
  batch_.clear();
  std::size_t size = 0;
  while (!backlog_.empty() && batch_.size() < kMaxBatchEvents) {
    size += backlog_.front()->size();
    batch_.push_back(std::move(backlog_.front()));
    backlog_.pop_front();
  }
  const bool last = stream_ended_ && backlog_.empty();
  char frame[24];
  std::snprintf(frame, sizeof frame, "%zx\r\n", size);
  out_ = frame;
  static constexpr std::string_view kEnd = "\r\n", kLast = "0\r\n\r\n";
  std::vector<asio::const_buffer> buffers;
  if (size > 0) {
    buffers.push_back(asio::buffer(out_));
    for (const SharedBytes& b : batch_) buffers.push_back(asio::buffer(*b));
    buffers.push_back(asio::buffer(kEnd));
  }
  if (last) buffers.push_back(asio::buffer(kLast));
  writing_ = true;
  transport_->tcp.expires_after(kWriteTimeout);
  transport_->on_stream([this, &buffers, size, last](auto& stream) {
    asio::async_write(stream, buffers, [self = self(), size, last](error_code error, std::size_t) {
      self->writing_ = false;
      if (self->call_) self->call_->sent(size, self->batch_.size());
      if (error || last) return self->close();
      self->flush();
    });
  });
}

void Http1Session::stop() {
  asio::post(transport_->get_executor(), [self = self()] {
    self->closing_ = true;
    if (self->state_ == State::kIdle) return self->close();
    if (self->state_ == State::kStreaming) self->on_end(0);
  });
}

void Http1Session::abort() {
  asio::post(transport_->get_executor(), [self = self()] { self->close(); });
}

// Closes the connection; pending operations end with an error. In state kWorking, where no read is pending, it does the
// TLS shutdown first.
void Http1Session::close() {
  if (state_ == State::kClosed) return;
  const bool polite = state_ == State::kWorking;
  state_ = State::kClosed;
  call_.reset();
  patience_.cancel();
  backlog_.clear();
  if (polite) return transport_->close_politely(self());
  transport_->close();
}

}  // namespace berth::http
