// The requests and answers of one HTTP/2 connection, with their bounds: what is read and kept, what waits to
// be sent, how long each may take, and what a client may do before it is told to leave. Pure: bytes and the
// time come in, bytes and requests come out.
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

  // Called by receive(), write() and tick(), which these must not call.
  class Owner {
   public:
    virtual ~Owner() = default;
    // The whole request, or what is needed to refuse it. Answered with respond(), or begin(), chunk()... and
    // end(), now or later.
    virtual void on_request(Stream stream, HttpRequest request) = 0;
    // Of a request: so much of what chunk() brought was sent or dropped.
    virtual void on_sent(Stream stream, std::size_t bytes, std::size_t events) = 0;
    // Of a request: it was answered, or nobody wants the answer any more.
    virtual void on_gone(Stream stream) = 0;
  };

  Http2Streams(Owner& owner, std::size_t max_body_bytes, Time now);

  void receive(std::string_view bytes, Time now);
  // Appends what is to be sent, until `out` holds `enough` or nothing is left at the moment.
  void write(std::string& out, std::size_t enough, Time now);
  bool wants_to_read() const {
    return frames_.queued() < kMaxQueuedFrames;
  }  // else what was asked for is sent first
  bool over() const { return frames_.over(); }  // the connection closes after what write() gave
  // Ends what takes too long. To be called every few seconds.
  void tick(Time now);

  // Of streams that on_request() named and on_gone() did not; of others nothing happens.
  void taken_up(Stream stream);  // the body is not kept here any more
  void respond(Stream stream, HttpResponse response);
  void begin(Stream stream, int status, const std::vector<Header>& headers);
  void chunk(Stream stream, SharedBytes bytes);
  void end(Stream stream);
  void cancel(Stream stream);  // the client does not read its answer

  // The client is told to go. What runs is finished, streams of events are ended; streams that are on their
  // way come in until the client has heard of it.
  void stop();
  void settle();  // the client had the time to hear of it

 private:
  enum class Phase { kHeaders, kBody, kHandler, kSending, kEvents };
  struct State {
    Phase phase = Phase::kHeaders;
    Time since{};  // the phase began, or the answer made progress
    HttpRequest request;
    std::size_t header_bytes = 0, body_bytes = 0, uncredited = 0;
    bool has_length = false, expects_continue = false;
    std::size_t length = 0;
    bool head = false;     // HEAD: no body is sent
    bool large = false;    // one of kMaxLargeBodies
    bool refused = false;  // answered before it was read to its end; the rest is dropped
    bool request_ended = false, given = false, answered = false;
    // The answer: what waits to be sent of it.
    std::deque<SharedBytes> waiting;
    std::size_t offset = 0, progress = 0;  // sent of the first of them; sent since `since`
    bool last = false;                     // nothing follows what waits
  };

  void on_request(Stream stream) override;
  void on_header(Stream stream, std::string_view name, std::string_view value) override;
  void on_headers_end(Stream stream) override;
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
  void give(Stream stream, State& state);
  void ask_for_room(Stream stream, State& state);
  void leave_room(State& state);
  void credit(Stream stream, State& state);
  void drain(Stream stream, State& state);
  void quit(Http2Frames::Code why);

  Owner& owner_;
  const std::size_t max_body_bytes_;
  Time now_;
  Http2Frames frames_;
  std::map<Stream, State> streams_;   // at most kMaxStreams
  std::deque<Stream> wait_for_room_;  // whose body is larger than its window
  int large_ = 0;
  Time idle_since_;
  Allowance resets_, idle_frames_;
  bool stopping_ = false, ended_ = false, quitting_ = false;
};

}  // namespace berth::http
