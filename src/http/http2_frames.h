// HTTP/2's frames on one connection of a server: bytes in, bytes out, and what they mean in between (RFC
// 9113). No socket and no clock. nghttp2 does the work; nothing else in the program knows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace berth::http {

class Http2Frames {
 public:
  using Stream = std::int32_t;
  enum class Code { kNone, kCancel, kEnhanceYourCalm };  // why a stream or the connection ends

  // Of an answer's body. Nothing and not the last: more comes later, and resume() will say so.
  struct Piece {
    std::size_t bytes = 0;
    bool last = false;
  };

  // Called by receive() and next(), which these must not call.
  class Events {
   public:
    virtual ~Events() = default;
    // A request: on_request(), on_header()..., on_headers_end(), on_body()..., on_request_end().
    virtual void on_request(Stream stream) = 0;
    virtual void on_header(Stream stream, std::string_view name,
                           std::string_view value) = 0;  // also ":method" and its like
    virtual void on_headers_end(Stream stream) = 0;
    virtual void on_trailers(Stream stream) = 0;
    virtual void on_body(Stream stream, std::string_view bytes) = 0;
    virtual void on_request_end(Stream stream) = 0;
    // The whole answer was put into next().
    virtual void on_answered(Stream stream) = 0;
    // The stream is over, and was before if on_answered() was not called.
    virtual void on_close(Stream stream) = 0;
    // A frame that moves nothing by itself, or that was not allowed.
    virtual void on_idle_frame() = 0;
    virtual void on_ping_answered() = 0;
    // Up to `size` bytes of the answer's body.
    virtual Piece take(Stream stream, char* to, std::size_t size) = 0;
  };

  explicit Http2Frames(Events& events);
  ~Http2Frames();

  // Everything the client sent, in pieces of any size. False: what comes from it makes no sense any more;
  // what next() has is sent and the connection closed.
  bool receive(std::string_view bytes);
  // The next frame to send, valid until the next call; empty: none at the moment.
  std::string_view next();
  std::size_t queued() const;  // frames that next() will give before bodies
  bool over() const;           // nothing is to be sent or expected any more

  // An answer; with a body its bytes are asked for with take().
  void respond(Stream stream, int status, const std::vector<Header>& headers, bool body);
  void say_continue(Stream stream);  // 100
  void resume(Stream stream);        // take() has something again
  void reset(Stream stream, Code why);
  // A body may be larger than kStreamWindow. Of what was received so many bytes were taken care of: as many
  // more may be sent.
  void widen(Stream stream);
  void credit(Stream stream, std::size_t bytes);
  void ping();
  // The client is told to open no more streams, in two steps (RFC 9113, 6.8): those that are on their way are
  // still served after the first.
  void announce_end();
  void end();
  // Ends everything with this reason.
  void quit(Code why);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::http
