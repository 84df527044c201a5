// HTTP/2 frames of one connection to the server (RFC 9113): bytes in, bytes out, and callbacks for what they mean. No
// socket and no clock. Wraps nghttp2, as http/http2_frames.h does for the server's side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "kube/transport/http_message.h"

namespace berth::kube {

class Http2Frames {
 public:
  using Stream = std::int32_t;

  // A piece of a request's body.
  struct Piece {
    std::size_t bytes = 0;
    bool last = false;
  };
  // Why a stream is closed. kRefused: the server did nothing about the request.
  enum class End : std::uint8_t { kWhole, kRefused, kBroken };

  // Callbacks of receive() and next(). A callback must not call these two.
  class Events {
   public:
    virtual ~Events() = default;
    virtual void on_sent(Stream stream) = 0;  // next() has returned the head of the request
    // Headers of the answer, ":status" first. Interim answers (1xx) have headers too, before those of the answer.
    virtual void on_header(Stream stream, std::string_view name, std::string_view value) = 0;
    virtual void on_head(Stream stream) = 0;  // the last header of an answer, or of an interim answer
    virtual void on_body(Stream stream, std::string_view bytes) = 0;
    virtual void on_close(Stream stream, End end) = 0;
    virtual void on_goaway() = 0;  // the server takes no more requests
    // Copies up to `size` bytes of the request's body to `to`.
    virtual Piece take(Stream stream, char* to, std::size_t size) = 0;
  };

  explicit Http2Frames(Events& events);
  ~Http2Frames();

  // Takes the server's bytes, in pieces of any size. False: the server broke the protocol; close the connection.
  bool receive(std::string_view bytes);
  // The next bytes to send, valid until the next call; empty: nothing to send now.
  std::string_view next();
  bool over() const;  // nothing more to send or to receive

  // Sends a request. Its body is fetched with Events::take(). 0: the connection takes no more requests.
  Stream request(const HttpRequest& request, std::string_view authority);
  void cancel(Stream stream);
  // `bytes` bytes of an answer are processed: the server may send as many more. Without it a stream is paused after
  // kStreamWindow bytes.
  void credit(Stream stream, std::size_t bytes);
  void ping();
  std::size_t max_streams() const;  // how many the server allows at the same time
  static constexpr std::size_t kStreamWindow = 1u << 20;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::kube
