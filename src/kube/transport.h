// HTTP/1.1 over TLS to one server: a pool of connections for requests, a connection for each stream. Runs on a thread of its own;
// every callback is posted to the executor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "base/result.h"
#include "kube/tls.h"

namespace berth::kube {

// Bounds.
inline constexpr std::size_t kMaxConnections = 16;        // of the pool
inline constexpr std::size_t kMaxBackground = 4;          // of these, for requests in the background
inline constexpr std::size_t kBackgroundTurn = 32;        // one of so many is of the background when others wait as well
inline constexpr std::size_t kMaxWaiting = 10'000;        // requests that wait for a connection; more are refused
inline constexpr std::size_t kMaxReplyBytes = 256u << 20;  // of one answer
inline constexpr std::size_t kMaxLineBytes = 16u << 20;   // of one event of a stream
inline constexpr Duration kConnectTimeout = std::chrono::seconds(10);  // address, connection and handshake together
inline constexpr Duration kIdleConnection = std::chrono::seconds(60);  // an unused connection is closed after this

struct HttpRequest {
  std::string method;
  std::string target;  // "/api/v1/nodes?limit=500"
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::optional<Time> not_sent_from;  // from this moment on it is refused instead, by the system's clock
  bool background = false;  // lets others go first, but for one turn of kBackgroundTurn, and leaves most connections to them
};

struct HttpReply {
  int status = 0;     // 0: no answer came
  std::string error;  // why not
  bool sent = false;  // without an answer: the server may have got the request
  bool hopeless = false;  // without an answer: another try will fare no better, the server cannot be trusted
  std::optional<std::int64_t> retry_after_seconds;
  std::vector<std::string> warnings;  // texts of Warning headers
  std::string body;
};

struct TransportOptions {
  std::string host;
  std::uint16_t port = 443;
  std::string server_name;  // what the server's certificate must name; empty: the host
  std::string proxy_host;   // an HTTP proxy that is asked to CONNECT; empty: none
  std::uint16_t proxy_port = 0;
  std::string proxy_authorization;  // value of Proxy-Authorization; empty: none
};

class Stream {
 public:
  virtual ~Stream() = default;  // ends it: no callback comes after that
};

class Transport {
 public:
  // `executor` must outlive the transport and everything that it has posted.
  Transport(Executor& executor, TransportOptions options);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // For connections made from now on; idle ones are closed. Before the first request.
  void use(TlsContext context);

  // `done` is called once, on the executor. `timeout` counts from the moment the request has a connection.
  void call(HttpRequest request, Duration timeout, std::function<void(HttpReply)> done);

  struct StreamHandler {
    std::function<void(HttpReply)> on_head;     // once: 200, or the whole refusal; then nothing more follows
    std::function<void(std::string_view)> on_line;  // each line of the answer; the text lives as long as the call
    std::function<void(std::string)> on_end;    // once after a head of 200: why it ended; empty: as the server meant
  };
  // The stream ends by itself when nothing is heard for `silence`.
  std::unique_ptr<Stream> stream(HttpRequest request, Duration silence, StreamHandler handler);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::kube
