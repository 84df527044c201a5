// HTTP/2 over an open link, on the transport's I/O thread: many requests at once. What several requests send goes out
// in one write, and one read takes what came for all of them.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/transport/http2_frames.h"
#include "kube/transport/long_answer.h"
#include "kube/transport/tls_link.h"

namespace berth::kube {

class Http2Exchange;

class Http2Connection final : public std::enable_shared_from_this<Http2Connection>, private Http2Frames::Events {
 public:
  using Clock = std::chrono::steady_clock;
  Http2Connection(boost::asio::io_context& io, std::shared_ptr<TlsLink> link, const TransportOptions& options);
  ~Http2Connection() override;

  // Begins to read and write.
  void begin();
  // `done` gets the whole answer.
  void call(HttpRequest request, Duration timeout, ReplyHandler done);
  std::shared_ptr<LongAnswer> long_answer();

  bool takes_requests() const { return !leaving_ && !closed_; }
  std::size_t open_requests() const { return exchanges_.size(); }
  std::size_t max_requests() const;  // how many the server allows at the same time, at least 1
  Clock::time_point idle_since() const { return idle_since_; }
  const TlsLink::Context& context() const { return link_->context(); }
  void leave();  // takes no more requests, and closes after the last one

 private:
  friend class Http2Exchange;
  using ErrorCode = TlsLink::ErrorCode;

  void on_sent(Http2Frames::Stream stream) override;
  void on_header(Http2Frames::Stream stream, std::string_view name, std::string_view value) override;
  void on_head(Http2Frames::Stream stream) override;
  void on_body(Http2Frames::Stream stream, std::string_view bytes) override;
  void on_close(Http2Frames::Stream stream, Http2Frames::End end) override;
  void on_goaway() override { leaving_ = true; }
  Http2Frames::Piece take(Http2Frames::Stream stream, char* to, std::size_t size) override;

  void open(const std::shared_ptr<Http2Exchange>& exchange);
  void drop(Http2Exchange& exchange);  // cancels it at the server
  std::shared_ptr<Http2Exchange> find(Http2Frames::Stream stream) const;
  void read();
  void receive(std::string_view bytes);
  void flush();
  void write();
  // Wakes up at the deadline or before.
  void wake_by(Clock::time_point deadline);
  void tick();
  void check_life(Clock::time_point now);
  void end(const std::string& why);

  boost::asio::io_context& io_;
  std::shared_ptr<TlsLink> link_;
  const Duration ping_after_, ping_timeout_;
  Http2Frames frames_{*this};
  std::map<Http2Frames::Stream, std::shared_ptr<Http2Exchange>> exchanges_;
  // While bytes are received: the exchanges that got some, and those that ended.
  std::vector<std::shared_ptr<Http2Exchange>> touched_;
  std::vector<std::pair<std::shared_ptr<Http2Exchange>, Http2Frames::End>> finished_;
  boost::asio::steady_timer timer_;
  Clock::time_point timer_at_ = Clock::time_point::max();
  Clock::time_point heard_at_ = Clock::now(), idle_since_ = Clock::now(), pinged_at_;
  std::array<char, 16 * 1024> in_;  // as much as TLS sends in one record
  std::string out_;
  bool writing_ = false, flush_posted_ = false, pinged_ = false;
  bool leaving_ = false, closed_ = false;
};

}  // namespace berth::kube
