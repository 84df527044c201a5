// The client's side of HTTP/2 without a socket, for tests and benchmarks: requests become bytes, bytes become
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
  int status = 0;  // 0: none yet
  std::map<std::string, std::string> headers;
  std::string body;
  bool complete = false;  // ended as it should
  bool closed = false;
  std::uint32_t error = 0;  // of RST_STREAM, when closed
};

class Http2Peer {
 public:
  using Stream = std::int32_t;
  using Headers = std::vector<std::pair<std::string, std::string>>;

  struct Options {
    std::int32_t stream_window = 1 << 20;  // of each answer
    bool keep_bodies = true;               // else they are read and forgotten
  };

  Http2Peer();
  explicit Http2Peer(Options options);
  ~Http2Peer();

  // Opens a stream. More than the server allows at a time wait here.
  Stream request(const std::string& method, const std::string& path, std::string body = {},
                 Headers headers = {});
  Stream request(Headers all, std::string body,
                 bool ends);  // with exactly these fields, also ":method"; else more may follow
  void send_more(Stream stream, std::string body, bool ends);
  void send_trailers(Stream stream);
  void reset(Stream stream);
  void ping();
  void settings();
  void hold(Stream stream);   // its answer is not read from now on: the server is not told to go on
  void go_on(Stream stream);  // reads what waits, and what comes

  void receive(std::string_view bytes);
  std::string output();  // what is to be sent now

  const Http2Answer& answer(Stream stream);
  void forget(Stream stream);                   // its answer
  void clear_body(Stream stream);               // what came of it so far
  std::size_t complete() const;                 // answers so far
  std::optional<std::uint32_t> goaway() const;  // its code, of the last one
  std::uint32_t max_streams() const;            // as the server says
  std::uint32_t max_header_bytes() const;
  std::size_t pings_answered() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::testing_support
