// HTTP/1.1 over TLS to one server: a pool of connections for requests, one connection for each stream. Runs on its
// own thread and posts every callback to the executor.
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
inline constexpr std::size_t kMaxConnections = 16;  // of the pool
inline constexpr std::size_t kMaxBackground = 4;    // of these, for background requests
// Every 32nd request is a background one while both kinds wait
inline constexpr std::size_t kBackgroundTurn = 32;
inline constexpr std::size_t kMaxWaiting = 10'000;         // waiting for a connection, of each kind; more are refused
inline constexpr std::size_t kMaxReplyBytes = 256u << 20;  // of one answer
inline constexpr std::size_t kMaxLineBytes = 16u << 20;    // of one event of a stream
inline constexpr Duration kConnectTimeout = std::chrono::seconds(10);  // address, connection and handshake together
inline constexpr Duration kIdleConnection = std::chrono::seconds(60);  // an unused connection is closed after this

struct HttpRequest {
  std::string method;
  std::string target;  // "/api/v1/nodes?limit=500"
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::optional<Time> not_sent_from;  // refused instead of sent from this time on, by the system clock
  // Lets other requests go first, except every kBackgroundTurn-th time, and uses at most kMaxBackground connections.
  bool background = false;
};

struct HttpReply {
  int status = 0;         // 0: there is no answer
  std::string error;      // why there is no answer
  bool sent = false;      // without an answer: the server may have received the request
  bool hopeless = false;  // without an answer: a retry will not help, because the server cannot be trusted
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
  virtual ~Stream() = default;  // ends the stream: no callback comes after that
};

class Transport {
 public:
  // `executor` must outlive the transport and the tasks that it has posted.
  Transport(Executor& executor, TransportOptions options);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // The TLS context of new connections; idle connections with another context are not used again. Call it before the
  // first request.
  void use(TlsContext context);

  // Calls `done` once, on the executor. `timeout` counts from when the request has a connection.
  void call(HttpRequest request, Duration timeout, std::function<void(HttpReply)> done);

  struct StreamHandler {
    // Once: a head of 200; or the whole refusal, after which nothing follows
    std::function<void(HttpReply)> on_head;
    std::function<void(std::string_view)> on_line;  // each line of the answer; the text lives as long as the call
    std::function<void(std::string)> on_end;        // once after a head of 200: what broke; empty: the server ended it
  };
  // The stream ends when the server sends nothing for `silence`.
  std::unique_ptr<Stream> stream(HttpRequest request, Duration silence, StreamHandler handler);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::kube
