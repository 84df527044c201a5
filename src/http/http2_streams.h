// The requests and responses of one HTTP/2 connection, and their limits: how much is read and buffered, how much
// waits to be sent, how long each step may take, and what a client may do before the connection is ended. Pure: bytes
// and the time come in, bytes and requests come out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "http/allowance.h"
#include "http/http2_frames.h"
#include "http/limits.h"
#include "http/message.h"

namespace berth::http {

class Http2Streams final : private Http2Frames::Events {
 public:
  using Stream = Http2Frames::Stream;
  using Time = std::chrono::steady_clock::time_point;

  // What becomes of a request whose head has come.
  struct Verdict {
    enum class What { kTake, kAsk, kRefuse } what = What::kTake;  // kAsk: allow() or respond() says it later
    std::size_t max_body = 0;                                     // for kTake and kAsk
  };

  // Callbacks of receive(), write() and tick(). A callback must not call these three.
  class Owner {
   public:
    virtual ~Owner() = default;
    // kRefuse resets the stream as one that the client may try again.
    virtual Verdict on_head(Stream stream, HttpRequest head, bool has_body) = 0;
    // Whether this many more bytes of the body may be kept. False resets the stream.
    virtual bool may_keep(Stream stream, std::size_t bytes) = 0;
    // The request is complete, or as much of it as is needed to refuse it. Answer it with respond(), or with begin(),
    // chunk()... and end(), now or later.
    virtual void on_request(Stream stream, std::string body, bool too_large) = 0;
    // This much of what chunk() was given for the stream has been sent or dropped.
    virtual void on_sent(Stream stream, std::size_t bytes, std::size_t events) = 0;
    // A stream that on_head() named is closed: its response is complete, or it was reset.
    virtual void on_gone(Stream stream) = 0;
  };

  Http2Streams(Owner& owner, Time now);

  void receive(std::string_view bytes, Time now);
  // Appends bytes to send, until `out` holds `enough` bytes or nothing is left for now.
  void write(std::string& out, std::size_t enough, Time now);
  bool wants_to_read() const { return frames_.queued() < kMaxQueuedFrames; }  // false: send the queued frames first
  bool over() const { return frames_.over(); }  // close the connection after the bytes that write() returned are sent
  // Ends streams and connections that exceed their time limits. Call it every few seconds.
  void tick(Time now);

  // For streams that on_head() named and on_gone() has not ended; calls for other streams have no effect.
  void allow(Stream stream);     // after kAsk: takes the body
  void taken_up(Stream stream);  // the request body has left this buffer: its slot for a large body is free again
  void respond(Stream stream, HttpResponse response);
  void begin(Stream stream, int status, const std::vector<Header>& headers);
  void chunk(Stream stream, SharedBytes bytes);
  void end(Stream stream);
  void cancel(Stream stream);  // resets the stream because the client does not read its response

  // Begins the graceful shutdown: running requests are finished and watches are ended. Streams that the client opens
  // before it sees the GOAWAY frame are still accepted.
  void stop();
  void settle();  // the client has had enough time to see the GOAWAY frame

 private:
  enum class Phase { kHeaders, kBody, kHandler, kSending, kEvents };
  struct State {
    Phase phase = Phase::kHeaders;
    Time since{};         // when the phase began, or when the response last made progress
    HttpRequest request;  // until on_head()
    std::string body;
    std::size_t header_bytes = 0, body_bytes = 0, uncredited = 0, max_body = 0;
    bool has_length = false, expects_continue = false, bad_host = false;
    std::size_t length = 0;
    bool head = false;     // HEAD request: no body is sent
    bool named = false;    // on_head() named it
    bool asking = false;   // on_head() answered kAsk: the body waits in its window
    bool large = false;    // uses one of the kMaxLargeBodies slots
    bool counted = false;  // in refused_
    bool refused = false;  // answered before the whole request was read; the rest is dropped
    bool request_ended = false, answered = false;
    // The parts of the response that wait to be sent.
    std::deque<SharedBytes> waiting;
    std::size_t offset = 0, progress = 0;  // bytes sent of the first part; bytes sent since `since`
    bool last = false;                     // nothing follows the parts in `waiting`
  };

  void on_header_block(bool open) override;
  void on_request(Stream stream) override;
  void on_header(Stream stream, std::string_view name, std::string_view value) override;
  void on_headers_end(Stream stream, bool has_body) override;
  void on_trailers(Stream stream) override;
  void on_body(Stream stream, std::string_view bytes) override;
  void on_request_end(Stream stream) override;
  void on_answered(Stream stream) override;
  void on_close(Stream stream) override;
  void on_idle_frame() override;
  void on_ping_answered() override { settle(); }
  Http2Frames::Piece take(Stream stream, char* to, std::size_t size) override;

  State* find(Stream stream);
  void refuse(Stream stream, State& state, HttpResponse response);
  void reset(Stream stream, State& state, Http2Frames::Code why);
  void take_head(Stream stream, State& state);
  void take_body(Stream stream, State& state);
  void give(Stream stream, State& state);
  void ask_for_room(Stream stream, State& state);
  void leave_room(State& state);
  void credit(Stream stream, State& state);
  void drain(Stream stream, State& state);
  void quit(Http2Frames::Code why);

  Owner& owner_;
  Time now_;
  Http2Frames frames_;
  std::map<Stream, State> streams_;   // at most kMaxStreams
  std::deque<Stream> wait_for_room_;  // streams whose body needs one of the kMaxLargeBodies slots
  int large_ = 0;
  Time idle_since_;
  Allowance resets_, idle_frames_;
  std::size_t refused_ = 0;  // at most kMaxRefusedStreams
  bool in_header_block_ = false;
  std::size_t block_bytes_ = 0;  // received since the header block began
  bool stopping_ = false, ended_ = false, quitting_ = false;
};

}  // namespace berth::http
