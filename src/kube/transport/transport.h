// HTTP over TLS to one server, on a thread of its own; posts every callback to the executor. With HTTP/2 all requests
// share a connection, and streams share others. A server without it gets HTTP/1.1: a pool of connections for requests,
// one connection for each stream.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "kube/transport/http_message.h"
#include "kube/transport/tls.h"
#include "kube/transport/transport_options.h"

namespace berth::kube {

// Bounds.
inline constexpr std::size_t kMaxInFlight = 64;     // requests of an HTTP/2 connection, streams not counted
inline constexpr std::size_t kMaxConnections = 16;  // for requests with HTTP/1.1, each with one in flight
inline constexpr std::size_t kMaxBackground = 4;    // background requests in flight
// Every 32nd request is a background one while both kinds wait.
inline constexpr std::size_t kBackgroundTurn = 32;
inline constexpr std::size_t kMaxWaiting =
    10'000;  // requests that are not in flight yet, of each kind; more are refused
inline constexpr std::size_t kMaxLineBytes = 16u << 20;                // of one event of a stream
inline constexpr Duration kIdleConnection = std::chrono::seconds(60);  // an unused connection is closed after this

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

  // The TLS context of new connections; connections with another context get no new requests. Call it before the first
  // request.
  void use(TlsContext context);

  // Calls `done` once, on the executor. `timeout` counts from when the request has a connection.
  void call(HttpRequest request, Duration timeout, ReplyHandler done);

  struct StreamHandler {
    // Once: a head of 200; or the whole refusal, after which nothing follows
    ReplyHandler on_head;
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
