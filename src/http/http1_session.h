// An HTTP/1.1 connection: one request after the other. A watch is always the last one.
#pragma once

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/call.h"
#include "http/http1_reader.h"
#include "http/question.h"
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
  enum class State { kIdle, kReading, kAsking, kWaiting, kWorking, kStreaming, kClosed };
  // The request that is being read. The functions about it return whether to read on now.
  struct Incoming {
    std::uint64_t length = 0;  // of a body that is not chunked
    bool expects_continue = false;
    std::unique_ptr<Handler::Parsed> request;
    std::shared_ptr<Strangers::Share> share;  // null: the client is known
    std::size_t max_body = 0, dropped = 0;
    bool drops = false;                   // what comes of the body is dropped
    std::optional<HttpResponse> refusal;  // the answer, when the body has been dropped
  };

  std::shared_ptr<Http1Session> self() { return std::static_pointer_cast<Http1Session>(shared_from_this()); }
  template <typename Then>
  void write_out(Then&& then);
  void wait_for_request();
  void read_on();
  void take_in();
  bool on_head();
  void ask();
  void on_verdict(std::unique_ptr<Handler::Parsed> request, Handler::Verdict refusal);
  bool open_body();
  bool drop_body();
  bool take_body(std::string_view bytes);
  void on_request_end();
  void take_turn();
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

  Http1Reader reader_;
  Incoming in_;
  std::string method_;
  bool old_client_ = false;  // HTTP/1.0: knows no chunks
  std::optional<Question> question_;
  bool asked_for_turn_[2] = {false, false};  // to read, to write
  boost::asio::steady_timer turn_timer_;     // limits how long a request waits for its turn
  std::array<char, 16 * 1024> scratch_;
  std::string_view unread_;  // the part of scratch_ that reader_ has not taken
  std::optional<Call> call_;

  std::string out_;                  // a response, or the chunk header of a batch of events
  std::deque<SharedBytes> backlog_;  // events to be written
  std::vector<SharedBytes> batch_;   // events that are being written
  bool writing_ = false;
  bool stream_ended_ = false;
};

}  // namespace berth::http
