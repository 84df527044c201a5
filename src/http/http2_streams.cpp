#include "http/http2_streams.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "base/text.h"
#include "http/date.h"
#include "http/http1_head.h"

namespace berth::http {

Http2Streams::Http2Streams(Owner& owner, Time now)
    : owner_(owner),
      now_(now),
      frames_(*this),
      idle_since_(now),
      resets_(kResetBurst, kResetsPerSecond, now),
      idle_frames_(kIdleFrameBurst, kIdleFramesPerSecond, now) {}

void Http2Streams::receive(std::string_view bytes, Time now) {
  now_ = now;
  frames_.receive(bytes);
  if (!in_header_block_) return;
  // A field that has not ended is kept, however long it is.
  block_bytes_ += bytes.size();
  if (block_bytes_ > kMaxHeaderBlockBytes && !quitting_) quit(Http2Frames::Code::kEnhanceYourCalm);
}

void Http2Streams::write(std::string& out, std::size_t enough, Time now) {
  now_ = now;
  while (out.size() < enough) {
    const std::string_view frame = frames_.next();
    if (frame.empty()) return;
    out += frame;
  }
}

Http2Streams::State* Http2Streams::find(Stream stream) {
  const auto it = streams_.find(stream);
  return it == streams_.end() ? nullptr : &it->second;
}

// --- A request comes in.

void Http2Streams::on_header_block(bool open) {
  in_header_block_ = open;
  block_bytes_ = 0;
}

void Http2Streams::on_request(Stream stream) {
  if (quitting_) return;
  streams_[stream].since = now_;
  idle_frames_.earn(kFramesPerSent);
}

void Http2Streams::on_header(Stream stream, std::string_view name, std::string_view value) {
  State* const s = find(stream);
  if (s == nullptr || s->phase != Phase::kHeaders) return;
  constexpr std::size_t kOverhead = 32;  // counted per field (RFC 9113, 6.5.2)
  s->header_bytes += name.size() + value.size() + kOverhead;
  if (s->header_bytes > kMaxHeaderBytes) return;
  HttpRequest& request = s->request;
  if (name == ":method") {
    request.method = value;
    s->head = value == "HEAD";
  } else if (name == ":path") {
    request.target = value;
  } else if (name == ":authority" || name == "host") {
    // Either may come, or both with the same value (RFC 9113, 8.3.1).
    const std::string_view known = request.header("host");
    s->bad_host = s->bad_host || !may_be_host(value) || (!known.empty() && to_lower(known) != to_lower(value));
    if (known.empty()) request.headers.push_back({"host", std::string(value)});
  } else if (!name.starts_with(':')) {
    if (name == "content-length") {
      s->has_length = std::from_chars(value.data(), value.data() + value.size(), s->length).ec == std::errc();
    } else if (name == "expect") {
      s->expects_continue = value == "100-continue";
    }
    request.headers.push_back({std::string(name), std::string(value)});
  }
}

void Http2Streams::on_headers_end(Stream stream, bool has_body) {
  State* const s = find(stream);
  if (s == nullptr) return;
  s->phase = Phase::kBody;
  s->since = now_;
  if (s->header_bytes > kMaxHeaderBytes) {
    on_idle_frame();
    return refuse(
        stream, *s,
        plain_text(431, "the request's header is larger than " + std::to_string(kMaxHeaderBytes) + " bytes\n"));
  }
  if (s->request.method == "CONNECT")
    return refuse(stream, *s, plain_text(405, "CONNECT is not served; send requests to this server itself\n"));
  if (s->bad_host)
    return refuse(stream, *s, plain_text(400, "the :authority and the Host header must name one host\n"));
  const Verdict verdict = owner_.on_head(stream, std::exchange(s->request, {}), has_body);
  s->named = true;
  s->max_body = verdict.max_body;
  if (verdict.what == Verdict::What::kRefuse) return reset(stream, *s, Http2Frames::Code::kRefusedStream);
  s->asking = verdict.what == Verdict::What::kAsk;
  if (!s->asking) take_head(stream, *s);
}

// The body may come.
void Http2Streams::take_head(Stream stream, State& state) {
  if (state.has_length && state.length > state.max_body) {
    state.refused = true;
    return give(stream, state);
  }
  if (state.expects_continue && !state.request_ended) frames_.say_continue(stream);
}

void Http2Streams::allow(Stream stream) {
  State* const s = find(stream);
  if (s == nullptr || !std::exchange(s->asking, false) || s->refused || s->phase != Phase::kBody) return;
  take_head(stream, *s);
  if (s->phase != Phase::kBody) return drain(stream, *s);
  take_body(stream, *s);
  if (s->request_ended && s->phase == Phase::kBody) give(stream, *s);
}

void Http2Streams::on_trailers(Stream stream) {
  State* const s = find(stream);
  if (s != nullptr && s->phase == Phase::kBody)
    refuse(stream, *s, plain_text(400, "trailers are not served; send header fields before the body\n"));
}

void Http2Streams::on_body(Stream stream, std::string_view bytes) {
  State* const s = find(stream);
  if (s == nullptr) return;
  s->body_bytes += bytes.size();
  s->uncredited += bytes.size();
  if (s->refused) return drain(stream, *s);
  if (s->phase != Phase::kBody) return;
  if (!owner_.may_keep(stream, bytes.size())) return reset(stream, *s, Http2Frames::Code::kRefusedStream);
  s->body += bytes;
  if (!s->asking) take_body(stream, *s);
}

// More of a body has come, and may be kept.
void Http2Streams::take_body(Stream stream, State& state) {
  if (state.body_bytes > state.max_body) {
    state.refused = true;
    give(stream, state);
    return drain(stream, state);
  }
  if (state.large) {
    credit(stream, state);
  } else if (state.body_bytes > kStreamWindow / 2 && !(state.has_length && state.length <= kStreamWindow)) {
    ask_for_room(stream, state);
  }
}

// At most kMaxLargeBodies bodies may be larger than their window at a time. Others wait with what they have received.
void Http2Streams::ask_for_room(Stream stream, State& state) {
  if (large_ >= kMaxLargeBodies) {
    if (std::find(wait_for_room_.begin(), wait_for_room_.end(), stream) == wait_for_room_.end())
      wait_for_room_.push_back(stream);
    return;
  }
  ++large_;
  state.large = true;
  state.since = now_;
  frames_.widen(stream);
  credit(stream, state);
}

void Http2Streams::credit(Stream stream, State& state) { frames_.credit(stream, std::exchange(state.uncredited, 0)); }

// Some clients read the response only after they have sent the whole body, so go on receiving a refused body.
void Http2Streams::drain(Stream stream, State& state) {
  if (std::max(state.body_bytes, state.length) <= kMaxDrainBytes) {
    credit(stream, state);
  } else if (state.answered) {
    // RFC 9113, 8.1: after a complete response, ask the client to stop sending.
    frames_.reset(stream, Http2Frames::Code::kNone);
  }
}

void Http2Streams::leave_room(State& state) {
  if (!std::exchange(state.large, false)) return;
  --large_;
  while (large_ < kMaxLargeBodies && !wait_for_room_.empty()) {
    const Stream next = wait_for_room_.front();
    wait_for_room_.pop_front();
    State* const s = find(next);
    if (s != nullptr && s->phase == Phase::kBody && !s->request_ended && !s->refused) ask_for_room(next, *s);
  }
}

void Http2Streams::on_request_end(Stream stream) {
  State* const s = find(stream);
  if (s == nullptr) return;
  s->request_ended = true;
  if (!s->refused && !s->asking && s->phase == Phase::kBody) give(stream, *s);
}

void Http2Streams::give(Stream stream, State& state) {
  state.phase = Phase::kHandler;
  const bool too_large = state.refused;
  std::string body = std::exchange(state.body, {});
  owner_.on_request(stream, too_large ? std::string() : std::move(body), too_large);
}

void Http2Streams::taken_up(Stream stream) {
  if (State* const s = find(stream)) leave_room(*s);
}

void Http2Streams::refuse(Stream stream, State& state, HttpResponse response) {
  state.refused = true;
  state.request = {};
  respond(stream, std::move(response));
  if (std::exchange(state.counted, true)) return;
  if (++refused_ > kMaxRefusedStreams && !quitting_) quit(Http2Frames::Code::kEnhanceYourCalm);
}

// The client may try again: nothing was done. Until the reset is sent, only the stream itself is kept, so such streams
// do not count as refusals that wait to be read: a busy client may have many at once.
void Http2Streams::reset(Stream stream, State& state, Http2Frames::Code why) {
  state.refused = true;
  state.body = std::string();
  leave_room(state);
  frames_.reset(stream, why);
}

// --- An answer goes out.

void Http2Streams::respond(Stream stream, HttpResponse response) {
  State* const s = find(stream);
  if (s == nullptr || s->last || s->phase == Phase::kEvents) return;
  if (s->phase == Phase::kBody) {
    s->refused = true;
    s->body = std::string();
    leave_room(*s);
  }
  s->phase = Phase::kSending;
  s->since = now_;
  s->last = true;
  const bool bodiless = response.status == 304 || response.status == 204;
  if (!bodiless) response.headers.push_back({"content-length", std::to_string(response.body.size())});
  response.headers.push_back({"date", http_date()});
  const bool body = !bodiless && !s->head && !response.body.empty();
  if (body) s->waiting.push_back(std::make_shared<const std::string>(std::move(response.body)));
  frames_.respond(stream, response.status, response.headers, body);
}

void Http2Streams::begin(Stream stream, int status, const std::vector<Header>& headers) {
  State* const s = find(stream);
  if (s == nullptr || s->phase != Phase::kHandler) return;
  s->phase = Phase::kEvents;
  s->since = now_;
  s->last = stopping_;
  std::vector<Header> all = headers;
  all.push_back({"date", http_date()});
  frames_.respond(stream, status, all, true);
}

void Http2Streams::chunk(Stream stream, SharedBytes bytes) {
  State* const s = find(stream);
  if (s == nullptr || s->phase != Phase::kEvents || s->last) return owner_.on_sent(stream, bytes->size(), 1);
  if (s->waiting.empty()) {
    s->since = now_;
    s->progress = 0;
  }
  s->waiting.push_back(std::move(bytes));
  frames_.resume(stream);
}

void Http2Streams::end(Stream stream) {
  State* const s = find(stream);
  if (s == nullptr || s->phase != Phase::kEvents) return;
  s->last = true;
  frames_.resume(stream);
}

void Http2Streams::cancel(Stream stream) {
  State* const s = find(stream);
  if (s == nullptr) return;
  s->answered = true;  // counts as answered: the reset is not the client's fault
  frames_.reset(stream, Http2Frames::Code::kCancel);
}

Http2Frames::Piece Http2Streams::take(Stream stream, char* to, std::size_t size) {
  State* const s = find(stream);
  if (s == nullptr) return {0, true};
  Http2Frames::Piece piece;
  std::size_t events = 0, event_bytes = 0;
  while (piece.bytes < size && !s->waiting.empty()) {
    const std::string& first = *s->waiting.front();
    const std::size_t n = std::min(size - piece.bytes, first.size() - s->offset);
    std::memcpy(to + piece.bytes, first.data() + s->offset, n);
    piece.bytes += n;
    s->offset += n;
    if (s->offset < first.size()) break;
    ++events;
    event_bytes += first.size();
    s->offset = 0;
    s->waiting.pop_front();
  }
  piece.last = s->last && s->waiting.empty();
  s->progress += piece.bytes;
  if (s->progress >= kProgressBytes || s->phase == Phase::kEvents) {
    s->progress = 0;
    s->since = now_;
  }
  if (piece.bytes > 0) idle_frames_.earn(kFramesPerSent);
  if (events > 0 && s->phase == Phase::kEvents) owner_.on_sent(stream, event_bytes, events);
  return piece;
}

void Http2Streams::on_answered(Stream stream) {
  State* const s = find(stream);
  if (s == nullptr) return;
  s->answered = true;
  if (!s->request_ended) drain(stream, *s);
}

void Http2Streams::on_close(Stream stream) {
  const auto it = streams_.find(stream);
  if (it == streams_.end()) return;
  auto node = streams_.extract(it);
  State& s = node.mapped();
  // The stream ended before its response was complete, by a reset or an error of the client: the work was wasted.
  const bool wasted = !s.answered;
  leave_room(s);
  if (s.counted) --refused_;
  if (s.named) owner_.on_gone(stream);
  if (streams_.empty()) idle_since_ = now_;
  if (wasted && !quitting_ && !resets_.spend(now_)) quit(Http2Frames::Code::kEnhanceYourCalm);
}

// --- The connection.

void Http2Streams::on_idle_frame() {
  if (!quitting_ && !idle_frames_.spend(now_)) quit(Http2Frames::Code::kEnhanceYourCalm);
}

void Http2Streams::quit(Http2Frames::Code why) {
  quitting_ = true;
  frames_.quit(why);
}

void Http2Streams::tick(Time now) {
  now_ = now;
  if (quitting_) return;
  if (streams_.empty()) {
    if (now - idle_since_ >= kIdleTimeout) quit(Http2Frames::Code::kNone);
    return;
  }
  for (auto& [stream, s] : streams_) {
    const auto age = now - s.since;
    switch (s.phase) {
      case Phase::kHeaders:
        // No other frame may come before the rest of this header block (RFC 9113, 6.10), so a slow one blocks the
        // connection.
        if (age >= kHeaderTimeout) return quit(Http2Frames::Code::kEnhanceYourCalm);
        break;
      case Phase::kBody:
        if (age >= kBodyTimeout) cancel(stream);
        break;
      case Phase::kHandler:
        break;
      case Phase::kSending:
        if (age >= kWriteTimeout) cancel(stream);
        break;
      case Phase::kEvents:
        if (!s.waiting.empty() && age >= kWriteTimeout) cancel(stream);
        break;
    }
  }
}

void Http2Streams::stop() {
  if (std::exchange(stopping_, true)) return;
  frames_.announce_end();
  frames_.ping();  // its answer shows that the client has received the GOAWAY frame
  for (auto& [stream, s] : streams_) {
    if (s.phase == Phase::kEvents) end(stream);
  }
}

void Http2Streams::settle() {
  if (!stopping_ || std::exchange(ended_, true)) return;
  frames_.end();
}

}  // namespace berth::http
