#include "kube/transport/http2.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "kube/transport/http2_exchange.h"

namespace berth::kube {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kWriteBytes = 64 * 1024;  // bytes of one write; the frames of all requests are interleaved in it
constexpr std::size_t kMaxRequests = 100;       // on one connection, also when the server allows more

}  // namespace

Http2Connection::Http2Connection(asio::io_context& io, std::shared_ptr<TlsLink> link, const TransportOptions& options)
    : io_(io),
      link_(std::move(link)),
      ping_after_(options.ping_after),
      ping_timeout_(options.ping_timeout),
      timer_(io) {}

// Callbacks may hold the exchanges that hold them.
Http2Connection::~Http2Connection() {
  for (const auto& [_, exchange] : exchanges_) exchange->forget();
}

void Http2Connection::begin() {
  flush();
  read();
}

std::size_t Http2Connection::max_requests() const {
  return std::clamp<std::size_t>(frames_.max_streams(), 1, kMaxRequests);
}

// --- Requests.

void Http2Connection::call(HttpRequest request, Duration timeout, ReplyHandler done) {
  std::make_shared<Http2Exchange>(weak_from_this())->call(std::move(request), timeout, std::move(done));
}

std::shared_ptr<LongAnswer> Http2Connection::long_answer() { return std::make_shared<Http2Exchange>(weak_from_this()); }

void Http2Connection::open(const std::shared_ptr<Http2Exchange>& exchange) {
  const auto stream = frames_.request(exchange->request(), link_->authority());
  if (stream == 0) {
    leaving_ = true;
    return;
  }
  if (exchanges_.empty()) heard_at_ = Clock::now();  // silence is measured from here
  exchange->opened(stream);
  exchanges_.emplace(stream, exchange);
  flush();
}

void Http2Connection::drop(Http2Exchange& exchange) {
  frames_.cancel(exchange.stream());
  exchanges_.erase(exchange.stream());
  if (exchanges_.empty()) idle_since_ = Clock::now();
  flush();
}

// The caller keeps the exchange alive: it may end and be dropped in between.
std::shared_ptr<Http2Exchange> Http2Connection::find(Http2Frames::Stream stream) const {
  const auto found = exchanges_.find(stream);
  return found == exchanges_.end() ? nullptr : found->second;
}

void Http2Connection::on_sent(Http2Frames::Stream stream) {
  if (const auto exchange = find(stream)) exchange->sent();
}

void Http2Connection::on_header(Http2Frames::Stream stream, std::string_view name, std::string_view value) {
  if (const auto exchange = find(stream)) exchange->take_answer_header(name, value);
}

void Http2Connection::on_head(Http2Frames::Stream stream) {
  if (const auto exchange = find(stream)) exchange->end_head();
}

void Http2Connection::on_body(Http2Frames::Stream stream, std::string_view bytes) {
  const auto exchange = find(stream);
  if (!exchange) return;
  exchange->take_body(bytes);
  if (touched_.empty() || touched_.back() != exchange) touched_.push_back(exchange);
}

Http2Frames::Piece Http2Connection::take(Http2Frames::Stream stream, char* to, std::size_t size) {
  const auto exchange = find(stream);
  return exchange ? exchange->next_body(to, size) : Http2Frames::Piece{0, true};
}

void Http2Connection::on_close(Http2Frames::Stream stream, Http2Frames::End end) {
  auto node = exchanges_.extract(stream);
  if (!node) return;
  if (exchanges_.empty()) idle_since_ = Clock::now();
  finished_.emplace_back(std::move(node.mapped()), end);
}

// --- Bytes.

void Http2Connection::read() {
  link_->stream().async_read_some(asio::buffer(in_), [self = shared_from_this()](ErrorCode error, std::size_t n) {
    if (self->closed_) return;
    if (error) return self->end(self->link_->describe(error));
    self->receive({self->in_.data(), n});
    if (!self->closed_) self->read();
  });
}

void Http2Connection::receive(std::string_view bytes) {
  heard_at_ = Clock::now();
  pinged_ = false;
  const bool well = frames_.receive(bytes);
  // After all frames are read, so that what one read brought is given in one piece.
  for (const auto& exchange : std::exchange(touched_, {})) exchange->give_piece();
  for (const auto& [exchange, how] : std::exchange(finished_, {})) exchange->end(how);
  if (!well) return end("the server does not speak HTTP/2 properly");
  flush();
}

// Writes after the tasks that are ready now: their requests go out together.
void Http2Connection::flush() {
  if (writing_ || closed_ || std::exchange(flush_posted_, true)) return;
  asio::post(io_, [self = shared_from_this()] {
    self->flush_posted_ = false;
    self->write();
  });
}

// At most one write is in progress. Further frames stay in frames_ until it is done.
void Http2Connection::write() {
  if (writing_ || closed_) return;
  out_.clear();
  for (std::string_view next; out_.size() < kWriteBytes && !(next = frames_.next()).empty();) out_ += next;
  if (out_.empty()) {
    if (frames_.over() || (leaving_ && exchanges_.empty())) end("the server ended the connection");
    return;
  }
  writing_ = true;
  asio::async_write(link_->stream(), asio::buffer(out_), [self = shared_from_this()](ErrorCode error, std::size_t) {
    self->writing_ = false;
    if (self->closed_) return;
    if (error) return self->end(self->link_->describe(error));
    self->write();
  });
}

// --- Time.

void Http2Connection::wake_by(Clock::time_point deadline) {
  deadline = std::min(deadline, Clock::now() + std::min(ping_after_, ping_timeout_));
  if (closed_ || deadline >= timer_at_) return;
  timer_at_ = deadline;
  timer_.expires_at(deadline);
  timer_.async_wait([weak = weak_from_this()](ErrorCode cancelled) {
    const auto self = weak.lock();
    if (!cancelled && self && !self->closed_) self->tick();
  });
}

void Http2Connection::tick() {
  timer_at_ = Clock::time_point::max();
  const auto now = Clock::now();
  check_life(now);
  if (closed_) return;
  auto next = Clock::time_point::max();
  std::vector<std::shared_ptr<Http2Exchange>> overdue;
  for (const auto& [_, exchange] : exchanges_) {
    if (exchange->deadline() <= now) {
      overdue.push_back(exchange);
    } else {
      next = std::min(next, exchange->deadline());
    }
  }
  for (const auto& exchange : overdue) exchange->end_overdue();
  if (!exchanges_.empty()) wake_by(next);
}

void Http2Connection::check_life(Clock::time_point now) {
  if (exchanges_.empty() || now - heard_at_ < ping_after_) return;
  if (!std::exchange(pinged_, true)) {
    pinged_at_ = now;
    frames_.ping();
    flush();
  } else if (now - pinged_at_ >= ping_timeout_) {
    end("the server gives no sign of life");
  }
}

// --- The end.

void Http2Connection::leave() {
  leaving_ = true;
  flush();
}

void Http2Connection::end(const std::string& why) {
  if (std::exchange(closed_, true)) return;
  timer_.cancel();
  link_->close();
  for (const auto& [_, exchange] : std::exchange(exchanges_, {})) exchange->end_broken(why);
}

}  // namespace berth::kube
