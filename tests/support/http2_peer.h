// The client side of HTTP/2 without a socket, for tests and benchmarks: turns requests into bytes and bytes into
// answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::testing_support {

struct Http2Answer {
  int status = 0;  // 0: no answer yet
  std::map<std::string, std::string> headers;
  std::string body;
  bool complete = false;  // the stream ended normally
  bool closed = false;
  std::uint32_t error = 0;  // error code of RST_STREAM, when closed
};

class Http2Peer {
 public:
  using Stream = std::int32_t;
  using Headers = std::vector<std::pair<std::string, std::string>>;

  struct Options {
    std::int32_t stream_window = 1 << 20;  // flow-control window of each stream
    bool keep_bodies = true;               // false: bodies are read and dropped
  };

  Http2Peer();
  explicit Http2Peer(Options options);
  ~Http2Peer();

  // Opens a stream. Requests above the server's limit of concurrent streams wait here.
  Stream request(const std::string& method, const std::string& path, std::string body = {}, Headers headers = {});
  Stream request(Headers all, std::string body,
                 // with exactly these header fields, including ":method"; `ends` false: more data may follow
                 bool ends);
  void send_more(Stream stream, std::string body, bool ends);
  void send_trailers(Stream stream);
  void reset(Stream stream);
  void ping();
  void settings();
  void hold(Stream stream);   // stops reading the answer: sends no WINDOW_UPDATE for it
  void go_on(Stream stream);  // reads the waiting and all later data

  void receive(std::string_view bytes);
  std::string output();  // the bytes to send now

  const Http2Answer& answer(Stream stream);
  void forget(Stream stream);                   // drops its answer
  void clear_body(Stream stream);               // drops the part of the body received so far
  std::size_t complete() const;                 // number of complete answers so far
  std::optional<std::uint32_t> goaway() const;  // error code of the last GOAWAY frame
  std::uint32_t max_streams() const;            // the server's setting
  std::uint32_t max_header_bytes() const;
  std::size_t pings_answered() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::testing_support
