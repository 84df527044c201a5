#include "http/http2_session.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <tuple>
#include <utility>

namespace berth::http {

namespace asio = boost::asio;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kWriteBytes = 64 * 1024;  // bytes of one write; the frames of all streams are interleaved in it
constexpr std::size_t kKeptBytes = 16 * 1024;   // buffer capacity that an idle connection keeps
constexpr std::chrono::seconds kTick{5};        // longest time between two checks of the time limits
constexpr std::chrono::seconds kHearsOfEndWithin{1};  // how long to wait for the answer to the PING of a shutdown
constexpr std::chrono::seconds kReadsLastWordsWithin{1};

}  // namespace

Http2Session::Http2Session(std::shared_ptr<Hub> hub, std::unique_ptr<Transport> transport)
    : hub_(std::move(hub)),
      transport_(std::move(transport)),
      streams_(*this, Clock::now()),
      timer_(transport_->get_executor()),
      ending_(transport_->get_executor()) {
  hub_->add(this, transport_->peer_address);
}

Http2Session::~Http2Session() { hub_->remove(this); }

void Http2Session::start() {
  if (hub_->stopping) return close();
  transport_->tcp.expires_never();  // tick() checks the time limits
  tick();
  write();
  read();
}

// --- Bytes.

void Http2Session::read() {
  if (reading_ || closed_ || (!leaving_ && !streams_.wants_to_read())) return;
  reading_ = true;
  transport_->on_stream([this](auto& stream) {
    stream.async_read_some(asio::buffer(in_), [self = self()](error_code error, std::size_t n) {
      self->reading_ = false;
      if (self->closed_) return;
      if (error) return self->close();
      if (!self->leaving_) self->streams_.receive({self->in_.data(), n}, Clock::now());
      self->write();
      self->read();
    });
  });
}

// At most one write is in progress. Further frames stay in streams_ until it is done.
void Http2Session::write() {
  if (writing_ || leaving_ || closed_) return;
  out_.clear();
  streams_.write(out_, kWriteBytes, Clock::now());
  if (out_.empty()) {
    if (out_.capacity() > kKeptBytes) out_ = std::string();
    if (streams_.over()) leave();
    return;
  }
  writing_ = true;
  write_since_ = Clock::now();
  transport_->on_stream([this](auto& stream) {
    asio::async_write(stream, asio::buffer(out_), [self = self()](error_code error, std::size_t) {
      self->writing_ = false;
      if (self->closed_) return;
      if (error) return self->close();
      self->write();
      self->read();
    });
  });
}

void Http2Session::tick() {
  timer_.expires_after(std::min<std::chrono::milliseconds>(kTick, hub_->turn_timeout));
  timer_.async_wait([self = self()](error_code cancelled) {
    if (cancelled || self->leaving_ || self->closed_) return;
    const auto now = Clock::now();
    if (self->writing_ && now - self->write_since_ >= kWriteTimeout) return self->close();
    self->refuse_those_who_waited(now);
    self->streams_.tick(now);
    self->write();
    self->tick();
  });
}

// --- Requests.

Http2Streams::Verdict Http2Session::on_head(Answered::Stream stream, HttpRequest head, bool has_body) {
  using What = Http2Streams::Verdict::What;
  head.peer = transport_->identity;
  head.peer_address = transport_->peer_address;
  head.peer_error = transport_->certificate_error;
  const std::size_t bytes = stranger_bytes(head);
  Open& open = open_[stream];
  open.request = hub_->handler.parse(std::move(head));
  const Handler::Parsed& request = *open.request;
  if (request.known) {
    hub_->busy(this);
  } else {
    open.request->share = open.share = hub_->strangers->share(transport_->peer_address);
    if (!open.share->take(bytes)) {
      open.request.reset();
      return {What::kRefuse};
    }
  }
  const std::size_t max_body = std::min(hub_->max_body_bytes, request.max_body);
  if (!has_body || !request.requests) return {What::kTake, max_body};
  ask(stream, open);
  return {What::kAsk, max_body};
}

void Http2Session::ask(Answered::Stream stream, Open& open) {
  open.question = std::make_unique<Question>(hub_, transport_->get_executor(), std::move(open.request),
                                             [this, stream](RequestPtr request, Handler::Verdict no) {
                                               const auto alive = self();
                                               on_verdict(stream, std::move(request), std::move(no));
                                             });
}

void Http2Session::on_verdict(Answered::Stream stream, RequestPtr request, Handler::Verdict refusal) {
  Open& open = open_.at(stream);
  open.question.reset();
  if (refusal) {
    streams_.respond(stream, std::move(*refusal));
  } else {
    open.request = std::move(request);
    streams_.allow(stream);
  }
  write();
}

bool Http2Session::may_keep(Answered::Stream stream, std::size_t bytes) {
  const auto& share = open_.at(stream).share;
  return !share || share->take(bytes);
}

void Http2Session::on_request(Answered::Stream stream, std::string body, bool too_large) {
  RequestPtr request = std::move(open_.at(stream).request);
  request->http.body = std::move(body);
  request->http.body_too_large = too_large;
  const Turns::Kind kind = Turns::kind_of(request->http.method);
  hub_->busy(this);
  lane(kind).waiting.push_back({stream, std::move(request), Clock::now()});
  take_turns(kind);
}

void Http2Session::take_turns(Turns::Kind kind) {
  Lane& l = lane(kind);
  while (!l.waiting.empty() && !l.asked && l.in_flight < kMaxInFlightPerConnection) {
    if (hub_->turns.take(kind, self())) {
      run_next(kind);
    } else {
      l.asked = true;
    }
  }
}

void Http2Session::on_turn(Turns::Kind kind) {
  asio::post(transport_->get_executor(), [self = self(), kind] {
    Lane& l = self->lane(kind);
    l.asked = false;
    if (l.waiting.empty() || self->leaving_ || self->closed_) return self->hub_->turns.give_back(kind);
    self->run_next(kind);
    self->take_turns(kind);
    self->write();  // taken_up() may have freed a slot for another large body
  });
}

void Http2Session::run_next(Turns::Kind kind) {
  Lane& l = lane(kind);
  Waiting next = std::move(l.waiting.front());
  l.waiting.pop_front();
  ++l.in_flight;
  const Call::Origin origin{self(), next.stream, transport_->get_executor()};
  running_.emplace(std::piecewise_construct, std::forward_as_tuple(next.stream),
                   std::forward_as_tuple(hub_, origin, kind, std::move(next.request)));
  streams_.taken_up(next.stream);
}

void Http2Session::refuse_those_who_waited(Http2Streams::Time now) {
  for (Lane& l : lanes_) {
    while (!l.waiting.empty() && now - l.waiting.front().since >= hub_->turn_timeout) {
      streams_.respond(l.waiting.front().stream, hub_->handler.overloaded());
      l.waiting.pop_front();
    }
  }
}

void Http2Session::no_longer_counts(Running& running) {
  if (!std::exchange(running.counted, false)) return;
  --lane(running.kind).in_flight;
  take_turns(running.kind);
}

void Http2Session::on_sent(Answered::Stream stream, std::size_t bytes, std::size_t events) {
  if (const auto it = running_.find(stream); it != running_.end()) it->second.call.sent(bytes, events);
}

void Http2Session::on_gone(Answered::Stream stream) {
  open_.erase(stream);
  if (open_.empty()) hub_->quiet(this);
  if (auto node = running_.extract(stream)) return no_longer_counts(node.mapped());
  for (Lane& l : lanes_) std::erase_if(l.waiting, [&](const Waiting& w) { return w.stream == stream; });
}

// --- Answers.

void Http2Session::on_response(Answered::Stream stream, HttpResponse response) {
  const auto open = open_.find(stream);
  const bool fits =
      open == open_.end() || !open->second.share || open->second.share->take_response(response.body.size());
  streams_.respond(stream, fits ? std::move(response) : hub_->handler.overloaded());
  write();
}

void Http2Session::on_begin(Answered::Stream stream, int status, std::vector<Header> headers) {
  const auto it = running_.find(stream);
  if (it == running_.end()) return;
  it->second.call.streams();
  no_longer_counts(it->second);
  streams_.begin(stream, status, headers);
  write();
}

void Http2Session::on_chunk(Answered::Stream stream, SharedBytes bytes) {
  streams_.chunk(stream, std::move(bytes));
  write();
}

void Http2Session::on_end(Answered::Stream stream) {
  streams_.end(stream);
  write();
}

void Http2Session::on_overrun(Answered::Stream stream) {
  streams_.cancel(stream);
  write();
}

// --- The end.

void Http2Session::stop() {
  asio::post(transport_->get_executor(), [self = self()] {
    if (self->leaving_ || self->closed_) return;
    self->streams_.stop();
    self->ending_.expires_after(kHearsOfEndWithin);
    self->ending_.async_wait([self](error_code cancelled) {
      if (cancelled || self->leaving_ || self->closed_) return;
      self->streams_.settle();
      self->write();
    });
    self->write();
  });
}

void Http2Session::abort() {
  asio::post(transport_->get_executor(), [self = self()] { self->close(); });
}

// The last frames must reach the client. Closing a socket with unread input resets the connection and can discard
// sent data, so shut down the sending side first and keep reading for a moment.
void Http2Session::leave() {
  leaving_ = true;
  running_.clear();
  open_.clear();
  error_code ignored;
  transport_->tcp.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  ending_.expires_after(kReadsLastWordsWithin);
  ending_.async_wait([self = self()](error_code cancelled) {
    if (!cancelled) self->close();
  });
  read();
}

void Http2Session::close() {
  if (std::exchange(closed_, true)) return;
  timer_.cancel();
  ending_.cancel();
  running_.clear();
  open_.clear();
  for (Lane& l : lanes_) l.waiting.clear();
  transport_->close();
}

}  // namespace berth::http
