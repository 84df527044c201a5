// An HTTP/2 connection: moves bytes between the socket and Http2Streams, and requests and responses between
// Http2Streams and the handler.
#pragma once

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "http/call.h"
#include "http/http2_streams.h"
#include "http/question.h"
#include "http/transport.h"

namespace berth::http {

// Everything runs on the connection's strand, except the calls from the hub.
class Http2Session final : public Connection, public Answered, public Turns::Taker, private Http2Streams::Owner {
 public:
  Http2Session(std::shared_ptr<Hub> hub, std::unique_ptr<Transport> transport);
  ~Http2Session() override;

  void start();
  void stop() override;
  void abort() override;
  void on_turn(Turns::Kind kind) override;
  void on_response(Answered::Stream stream, HttpResponse response) override;
  void on_begin(Answered::Stream stream, int status, std::vector<Header> headers) override;
  void on_chunk(Answered::Stream stream, SharedBytes bytes) override;
  void on_end(Answered::Stream stream) override;
  void on_overrun(Answered::Stream stream) override;

 private:
  using RequestPtr = std::unique_ptr<Handler::Parsed>;
  // A request from its head to the end of its stream.
  struct Open {
    RequestPtr request;                       // until it runs, or while no question about it is open
    std::shared_ptr<Strangers::Share> share;  // null: the client is known
    std::unique_ptr<Question> question;
  };
  struct Waiting {
    Answered::Stream stream;
    RequestPtr request;
    Http2Streams::Time since;
  };
  // The requests of one kind: reads or writes.
  struct Lane {
    std::deque<Waiting> waiting;
    int in_flight = 0;
    bool asked = false;  // waiting for Turns: on_turn() will be called
  };
  struct Running {
    Running(const std::shared_ptr<Hub>& hub, Call::Origin origin, Turns::Kind k, RequestPtr request)
        : call(hub, std::move(origin), k, std::move(request)), kind(k) {}
    Call call;
    Turns::Kind kind;
    bool counted = true;  // counts in Lane::in_flight; a watch does not
  };

  Http2Streams::Verdict on_head(Answered::Stream stream, HttpRequest head, bool has_body) override;
  bool may_keep(Answered::Stream stream, std::size_t bytes) override;
  void on_request(Answered::Stream stream, std::string body, bool too_large) override;
  void on_sent(Answered::Stream stream, std::size_t bytes, std::size_t events) override;
  void on_gone(Answered::Stream stream) override;

  std::shared_ptr<Http2Session> self() { return std::static_pointer_cast<Http2Session>(shared_from_this()); }
  Lane& lane(Turns::Kind kind) { return lanes_[kind == Turns::Kind::kRead ? 0 : 1]; }
  void ask(Answered::Stream stream, Open& open);
  void on_verdict(Answered::Stream stream, RequestPtr request, Handler::Verdict refusal);
  void take_turns(Turns::Kind kind);
  void run_next(Turns::Kind kind);
  void refuse_those_who_waited(Http2Streams::Time now);
  void no_longer_counts(Running& running);
  void read();
  void write();
  void tick();
  void leave();
  void close();

  std::shared_ptr<Hub> hub_;
  std::unique_ptr<Transport> transport_;
  Http2Streams streams_;
  boost::asio::steady_timer timer_, ending_;
  std::map<Answered::Stream, Open> open_;
  std::map<Answered::Stream, Running> running_;
  std::array<Lane, 2> lanes_;
  std::array<char, 16 * 1024> in_;
  std::string out_;
  Http2Streams::Time write_since_{};
  bool reading_ = false, writing_ = false;
  bool leaving_ = false, closed_ = false;  // leaving_: sends nothing any more; closed_: the socket is closed
};

}  // namespace berth::http
