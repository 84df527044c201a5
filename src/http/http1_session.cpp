#include "http/http1_session.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
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
    : hub_(std::move(hub)), transport_(std::move(transport)), turn_timer_(transport_->get_executor()) {
  hub_->add(this, transport_->peer_address);
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

// --- A request comes in.

void Http1Session::wait_for_request() {
  if (closing_ || hub_->stopping) return close();
  hub_->quiet(this);
  reader_.next_request();
  in_ = {};
  method_.clear();
  state_ = unread_.empty() ? State::kIdle : State::kReading;
  transport_->tcp.expires_after(unread_.empty() ? kIdleTimeout : kHeaderTimeout);
  if (unread_.empty()) return read_on();
  take_in();
}

void Http1Session::read_on() {
  transport_->on_stream([this](auto& stream) {
    stream.async_read_some(asio::buffer(scratch_), [self = self()](error_code error, std::size_t n) {
      if (error || self->state_ == State::kClosed) return self->close();
      if (std::exchange(self->state_, State::kReading) == State::kIdle)
        self->transport_->tcp.expires_after(kHeaderTimeout);
      self->unread_ = {self->scratch_.data(), n};
      self->take_in();
    });
  });
}

void Http1Session::take_in() {
  for (;;) {
    const Http1Reader::Taken taken = reader_.read(unread_);
    unread_.remove_prefix(taken.bytes);
    switch (taken.event) {
      case Http1Reader::Event::kMore:
        return read_on();
      case Http1Reader::Event::kHead:
        if (!on_head()) return;
        break;
      case Http1Reader::Event::kBody:
        if (!take_body(taken.body)) return;
        break;
      case Http1Reader::Event::kEnd:
        return on_request_end();
      case Http1Reader::Event::kRefused:
        closing_ = true;
        return refuse(plain_text(reader_.fault().status, reader_.fault().why + "\n"));
    }
  }
}

bool Http1Session::on_head() {
  Http1Head head = reader_.take_head();
  closing_ = closing_ || head.closes;
  old_client_ = head.old;
  method_ = head.request.method;
  in_.length = head.length;
  in_.expects_continue = head.expects_continue;
  head.request.peer = transport_->identity;
  head.request.peer_address = transport_->peer_address;
  head.request.peer_error = transport_->certificate_error;
  const std::size_t bytes = stranger_bytes(head.request);
  in_.request = hub_->handler.parse(std::move(head.request));
  in_.max_body = std::min(hub_->max_body_bytes, in_.request->max_body);
  if (in_.request->known) {
    hub_->busy(this);
  } else {
    in_.request->share = in_.share = hub_->strangers->share(transport_->peer_address);
    if (!in_.share->take(bytes)) {
      closing_ = true;
      refuse(hub_->handler.overloaded());
      return false;
    }
  }
  if (!reader_.has_body()) return true;
  if (!in_.request->requests) return open_body();
  ask();
  return false;
}

void Http1Session::ask() {
  state_ = State::kAsking;
  transport_->tcp.expires_never();
  question_.emplace(hub_, transport_->get_executor(), std::move(in_.request),
                    // Nothing is read or written now, so the question keeps the connection alive.
                    [self = self()](std::unique_ptr<Handler::Parsed> request, Handler::Verdict refusal) {
                      self->on_verdict(std::move(request), std::move(refusal));
                    });
}

void Http1Session::on_verdict(std::unique_ptr<Handler::Parsed> request, Handler::Verdict refusal) {
  question_.reset();
  state_ = State::kReading;
  if (refusal) {
    in_.refusal = std::move(refusal);
  } else {
    in_.request = std::move(request);
  }
  if (in_.refusal ? drop_body() : open_body()) take_in();
}

bool Http1Session::open_body() {
  transport_->tcp.expires_after(kBodyTimeout);
  if (in_.length > in_.max_body) {
    in_.request->http.body_too_large = true;
    return drop_body();
  }
  if (!in_.expects_continue) return true;
  out_ = "HTTP/1.1 100 Continue\r\n\r\n";
  write_out([](Http1Session& session) {
    session.transport_->tcp.expires_after(kBodyTimeout);
    session.take_in();
  });
  return false;
}

// Some clients read the answer only after they have sent the whole body.
bool Http1Session::drop_body() {
  in_.drops = true;
  transport_->tcp.expires_after(kBodyTimeout);
  if (!in_.expects_continue && in_.length <= kMaxDrainBytes) return true;
  closing_ = true;
  on_request_end();
  return false;
}

bool Http1Session::take_body(std::string_view bytes) {
  if (in_.drops) {
    in_.dropped += bytes.size();
    if (in_.dropped <= kMaxDrainBytes) return true;
    closing_ = true;
    on_request_end();
    return false;
  }
  HttpRequest& request = in_.request->http;
  if (request.body.size() + bytes.size() > in_.max_body) {
    request.body = std::string();
    request.body_too_large = true;
    return drop_body();
  }
  if (in_.share && !in_.share->take(bytes.size())) {
    closing_ = true;
    in_.request.reset();
    refuse(hub_->handler.overloaded());
    return false;
  }
  request.body += bytes;
  return true;
}

void Http1Session::on_request_end() {
  if (in_.refusal) return refuse(std::move(*in_.refusal));
  take_turn();
}

// Takes a turn for the request, or waits for one while too many requests are in flight.
void Http1Session::take_turn() {
  transport_->tcp.expires_never();
  state_ = State::kWaiting;
  hub_->busy(this);
  const Turns::Kind kind = Turns::kind_of(method_);
  bool& asked = asked_for_turn_[kind == Turns::Kind::kRead ? 0 : 1];
  if (!asked) {
    if (hub_->turns.take(kind, self())) return dispatch();
    asked = true;
  }
  turn_timer_.expires_after(hub_->turn_timeout);
  turn_timer_.async_wait([self = self()](error_code cancelled) {
    const bool over = !cancelled && self->turn_timer_.expiry() <= std::chrono::steady_clock::now();
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
  turn_timer_.cancel();
  call_.emplace(hub_, Call::Origin{self(), 0, transport_->get_executor()}, Turns::kind_of(method_),
                std::move(in_.request));
}

// --- An answer goes out.

void Http1Session::on_response(Stream, HttpResponse response) {
  if (state_ != State::kWorking) return;
  const bool fits = !in_.share || in_.share->take_response(response.body.size());
  write(fits ? std::move(response) : hub_->handler.overloaded());
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
  in_ = {};
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
  // A client of HTTP/1.0 knows no chunks: for it the end of the connection ends the answer.
  out_ = head_of(status, headers, true) + (old_client_ ? "\r\n" : "Transfer-Encoding: chunked\r\n\r\n");
  writing_ = true;
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
  const bool framed = !old_client_;
  if (size > 0 && framed) buffers.push_back(asio::buffer(out_));
  for (const SharedBytes& b : batch_) buffers.push_back(asio::buffer(*b));
  if (size > 0 && framed) buffers.push_back(asio::buffer(kEnd));
  if (last && framed) buffers.push_back(asio::buffer(kLast));
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
  question_.reset();
  turn_timer_.cancel();
  backlog_.clear();
  if (polite) return transport_->close_politely(self());
  transport_->close();
}

}  // namespace berth::http
