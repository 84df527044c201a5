// HTTP/2 frames of one server connection (RFC 9113): bytes in, bytes out, and callbacks for what they mean. No socket
// and no clock. Wraps nghttp2, as kube/transport/http2_frames.h does for the client's
// side.
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
  enum class Code { kNone, kRefusedStream, kCancel, kEnhanceYourCalm };  // why a stream or the connection ends

  // A piece of a response body. Zero bytes and not `last`: more bytes come later; call resume() when they are there.
  struct Piece {
    std::size_t bytes = 0;
    bool last = false;
  };

  // Callbacks of receive() and next(). A callback must not call these two.
  class Events {
   public:
    virtual ~Events() = default;
    // A frame begins that opens a block of headers, or another one that does not continue such a block.
    virtual void on_header_block(bool open) = 0;
    // Order of the callbacks of one request: on_request(), on_header()..., on_headers_end(), on_body()...,
    // on_request_end().
    virtual void on_request(Stream stream) = 0;
    virtual void on_header(Stream stream, std::string_view name,
                           std::string_view value) = 0;  // also pseudo headers such as ":method"
    virtual void on_headers_end(Stream stream, bool has_body) = 0;
    virtual void on_trailers(Stream stream) = 0;
    virtual void on_body(Stream stream, std::string_view bytes) = 0;
    virtual void on_request_end(Stream stream) = 0;
    // next() has returned the last frame of the response.
    virtual void on_answered(Stream stream) = 0;
    // The stream is closed. If on_answered() was not called, it was closed before its response was complete.
    virtual void on_close(Stream stream) = 0;
    // A frame that makes no progress by itself (PING, SETTINGS, ...), or an invalid frame.
    virtual void on_idle_frame() = 0;
    virtual void on_ping_answered() = 0;
    // Copies up to `size` bytes of the response body to `to`.
    virtual Piece take(Stream stream, char* to, std::size_t size) = 0;
  };

  explicit Http2Frames(Events& events);
  ~Http2Frames();

  // Takes the client's bytes, in pieces of any size. False: the connection is broken; send what next() still returns,
  // then close.
  bool receive(std::string_view bytes);
  // The next frame to send, valid until the next call; empty: nothing to send now.
  std::string_view next();
  std::size_t queued() const;  // control and header frames that next() returns before DATA frames
  bool over() const;           // nothing more to send or to receive

  // Sends a response. With `body`, its bytes are fetched with Events::take().
  void respond(Stream stream, int status, const std::vector<Header>& headers, bool body);
  void say_continue(Stream stream);  // sends 100 Continue
  void resume(Stream stream);        // take() has bytes again, or reached the end
  void reset(Stream stream, Code why);
  // Flow control of request bodies. widen() lets a body be larger than kStreamWindow. credit() tells that `bytes`
  // received bytes are processed: the client may send as many more.
  void widen(Stream stream);
  void credit(Stream stream, std::size_t bytes);
  void ping();
  // Graceful shutdown in two steps (RFC 9113, 6.8): after announce_end() streams that the client has already opened
  // are still served; end() refuses new ones.
  void announce_end();
  void end();
  // Ends the connection with this error code.
  void quit(Code why);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::http
