// An HTTP/1.1 connection: one request after the other. A watch is always the last one.
#pragma once

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/call.h"
#include "http/transport.h"

namespace berth::http {

// Everything runs on the connection's strand, except the calls from the hub.
class Http1Session final : public Connection, public Answered, public Turns::Taker {
 public:
  Http1Session(std::shared_ptr<Hub> hub, std::unique_ptr<Transport> transport);
  ~Http1Session() override;

  void start() { wait_for_request(); }
  void stop() override;
  void abort() override;
  void on_turn(Turns::Kind kind) override;
  void on_response(Stream stream, HttpResponse response) override;
  void on_begin(Stream stream, int status, std::vector<Header> headers) override;
  void on_chunk(Stream stream, SharedBytes bytes) override;
  void on_end(Stream stream) override;
  void on_overrun(Stream) override { close(); }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class State { kIdle, kReading, kWaiting, kWorking, kStreaming, kClosed };

  std::shared_ptr<Http1Session> self() { return std::static_pointer_cast<Http1Session>(shared_from_this()); }
  template <typename Then>
  void write_out(Then&& then);
  void wait_for_request();
  void read_header();
  void on_header();
  void on_bad_header(boost::system::error_code error);
  void read_body();
  void drain(std::uint64_t left);
  void take_turn(bool too_large);
  void dispatch();
  void refuse(HttpResponse response);
  void write(HttpResponse response);
  void finish_request();
  void flush();
  void watch_for_close();
  void close();

  std::shared_ptr<Hub> hub_;
  std::unique_ptr<Transport> transport_;
  State state_ = State::kIdle;
  bool closing_ = false;  // no further request on this connection

  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::string method_;
  HttpRequest request_;                      // waits for its turn
  bool asked_for_turn_[2] = {false, false};  // to read, to write
  boost::asio::steady_timer patience_;       // limits how long a request waits for its turn
  std::array<char, 16 * 1024> scratch_;
  std::optional<Call> call_;

  std::string out_;                  // a response, or the chunk header of a batch of events
  std::deque<SharedBytes> backlog_;  // events to be written
  std::vector<SharedBytes> batch_;   // events that are being written
  bool writing_ = false;
  bool stream_ended_ = false;
};

}  // namespace berth::http
