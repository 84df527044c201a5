#include "kube/transport/http2_exchange.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "kube/transport/http2.h"

namespace berth::kube {

void Http2Exchange::call(HttpRequest request, Duration timeout, ReplyHandler done) {
  open(std::move(request), timeout, std::move(done), Waits::kAnswer);
}

void Http2Exchange::start(HttpRequest request, Duration timeout, ReplyHandler on_head) {
  open(std::move(request), timeout, std::move(on_head), Waits::kHead);
}

void Http2Exchange::open(HttpRequest request, Duration timeout, ReplyHandler done, Waits waits) {
  request_ = std::move(request);
  on_reply_ = std::move(done);
  const auto connection = connection_.lock();
  if (connection && connection->takes_requests()) connection->open(shared_from_this());
  waits_ = waits;
  if (stream_ == 0) return fail("the connection is closed");
  wait(waits, timeout, overdue_text(timeout));
}

void Http2Exchange::wait(Waits what, Duration timeout, std::string overdue) {
  waits_ = what;
  deadline_ = std::chrono::steady_clock::now() + timeout;
  overdue_ = std::move(overdue);
  if (const auto connection = connection_.lock()) connection->wake_by(deadline_);
}

// --- The answer.

void Http2Exchange::take_answer_header(std::string_view name, std::string_view value) {
  if (waits_ != Waits::kAnswer && waits_ != Waits::kHead) return;
  header_bytes_ += name.size() + value.size();
  if (header_bytes_ > kMaxHeaderBytes) return;  // end_head() refuses it
  if (name == ":status") {
    int status = 0;
    std::from_chars(value.data(), value.data() + value.size(), status);
    reply_.status = status;
  } else {
    take_header(reply_, name, value);
  }
}

void Http2Exchange::end_head() {
  if (waits_ != Waits::kAnswer && waits_ != Waits::kHead) return;  // trailers
  if (header_bytes_ > kMaxHeaderBytes)
    return fail("the headers of the answer are larger than " + std::to_string(kMaxHeaderBytes) + " bytes");
  if (reply_.status < 200) {  // an interim answer: its headers do not count
    reply_ = without_answer({}, reply_.sent);
    return;
  }
  if (waits_ == Waits::kAnswer) return;
  if (reply_.status == 200) {
    waits_ = Waits::kNothing;
    deadline_ = TimePoint::max();
    return reply();
  }
  wait(Waits::kRefusal, kConnectTimeout, "the answer did not end within 10 s");
}

void Http2Exchange::take_body(std::string_view bytes) {
  if (waits_ == Waits::kPiece || waits_ == Waits::kNothing) {
    piece_.bytes += bytes;
    return;
  }
  reply_.body += bytes;
  if (const auto connection = connection_.lock()) connection->frames_.credit(stream_, bytes.size());
  if (reply_.body.size() > kMaxReplyBytes)
    fail("the answer is larger than " + std::to_string(kMaxReplyBytes) + " bytes");
}

Http2Frames::Piece Http2Exchange::next_body(char* to, std::size_t size) {
  const std::size_t bytes = std::min(size, request_.body.size() - body_sent_);
  std::copy_n(request_.body.data() + body_sent_, bytes, to);
  body_sent_ += bytes;
  return {bytes, body_sent_ == request_.body.size()};
}

void Http2Exchange::read_piece(Duration silence, std::function<void(Piece)> done) {
  on_piece_ = std::move(done);
  wait(Waits::kPiece, silence, "nothing was heard for too long");
  give_piece();
}

void Http2Exchange::give_piece() {
  if (!on_piece_ || (piece_.bytes.empty() && !piece_.ended)) return;
  waits_ = Waits::kNothing;
  deadline_ = TimePoint::max();
  Piece piece = std::exchange(piece_, {});
  if (const auto connection = connection_.lock(); connection && stream_ != 0 && !piece.bytes.empty()) {
    connection->frames_.credit(stream_, piece.bytes.size());
    connection->flush();
  }
  if (piece.ended) piece_.ended = true;
  std::exchange(on_piece_, nullptr)(std::move(piece));
}

// --- Ends.

void Http2Exchange::reply() { std::exchange(on_reply_, nullptr)(reply_); }

void Http2Exchange::end_whole() {
  stream_ = 0;
  deadline_ = TimePoint::max();
  if (on_reply_) {
    if (reply_.status < 200) return end_broken("the server ended the answer before it began");
    return reply();
  }
  piece_.ended = true;
  give_piece();
}

void Http2Exchange::end(Http2Frames::End how) {
  if (how == Http2Frames::End::kWhole) return end_whole();
  if (how == Http2Frames::End::kBroken) return end_broken("the server reset the stream");
  reply_.sent = false;
  end_broken("the server takes no more requests on this connection");
}

void Http2Exchange::end_broken(const std::string& why) {
  stream_ = 0;
  deadline_ = TimePoint::max();
  if (on_reply_) {
    // A refusal that did not end is a refusal all the same.
    if (waits_ == Waits::kRefusal) {
      reply_.body.clear();
      return reply();
    }
    reply_ = without_answer("the connection broke while waiting for the answer: " + why, reply_.sent);
    return reply();
  }
  piece_.ended = true;
  piece_.error = why;
  give_piece();
}

void Http2Exchange::end_overdue() {
  const std::string why = std::exchange(overdue_, {});
  drop();
  end_broken(why);
}

void Http2Exchange::fail(const std::string& why) {
  drop();
  end_broken(why);
}

void Http2Exchange::close() {
  forget();
  drop();
}

void Http2Exchange::forget() {
  on_reply_ = nullptr;
  on_piece_ = nullptr;
}

void Http2Exchange::drop() {
  const auto connection = connection_.lock();
  if (connection && stream_ != 0) connection->drop(*this);
  stream_ = 0;
}

}  // namespace berth::kube
