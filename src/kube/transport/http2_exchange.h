// One request on an HTTP/2 connection, and its whole or long answer.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "kube/transport/http2_frames.h"
#include "kube/transport/long_answer.h"

namespace berth::kube {

class Http2Connection;

// Ends once: with a whole answer, with an error, or by close().
class Http2Exchange final : public LongAnswer, public std::enable_shared_from_this<Http2Exchange> {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  explicit Http2Exchange(std::weak_ptr<Http2Connection> connection) : connection_(std::move(connection)) {}

  void call(HttpRequest request, Duration timeout, ReplyHandler done);
  void start(HttpRequest request, Duration timeout, ReplyHandler on_head) override;
  void read_piece(Duration silence, std::function<void(Piece)> done) override;
  void close() override;

  // The rest is for the connection.
  const HttpRequest& request() const { return request_; }
  Http2Frames::Stream stream() const { return stream_; }
  void opened(Http2Frames::Stream stream) { stream_ = stream; }
  void sent() { reply_.sent = true; }
  void take_answer_header(std::string_view name, std::string_view value);
  void end_head();
  void take_body(std::string_view bytes);
  Http2Frames::Piece next_body(char* to, std::size_t size);
  // Tells what was received if somebody waits for it.
  void give_piece();
  void end(Http2Frames::End how);
  void end_broken(const std::string& why);
  // TimePoint::max(): waits for nothing.
  TimePoint deadline() const { return deadline_; }
  void end_overdue();
  void forget();  // drops all callbacks

 private:
  enum class Waits : std::uint8_t { kNothing, kAnswer, kHead, kRefusal, kPiece };

  void open(HttpRequest request, Duration timeout, ReplyHandler done, Waits waits);
  void wait(Waits what, Duration timeout, std::string overdue);
  void reply();
  void end_whole();
  void fail(const std::string& why);
  void drop();

  std::weak_ptr<Http2Connection> connection_;
  Http2Frames::Stream stream_ = 0;  // 0: not open
  HttpRequest request_;
  std::size_t body_sent_ = 0, header_bytes_ = 0;
  Waits waits_ = Waits::kNothing;
  HttpReply reply_ = without_answer({}, false);
  ReplyHandler on_reply_;
  std::function<void(Piece)> on_piece_;
  Piece piece_;  // received and not given yet
  TimePoint deadline_ = TimePoint::max();
  std::string overdue_;
};

}  // namespace berth::kube
