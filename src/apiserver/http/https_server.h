// Puts a router on HTTPS: its own I/O threads read requests, check certificates and encode answers; what
// touches the API server's state runs on the core's executor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "apiserver/http/pki.h"
#include "apiserver/http/router.h"
#include "base/executor.h"
#include "base/result.h"

namespace berth::apiserver::http {

// Bounds. Those of requests in flight are kube-apiserver's; the others keep one client from filling the
// memory.
inline constexpr std::size_t kMaxHeaderBytes = 16 * 1024;
inline constexpr std::size_t kMaxConnections = 1'000;
inline constexpr std::size_t kMaxConnectionsPerPeer =
    200;  // not of loopback addresses: all local clients share them
inline constexpr int kMaxReadsInFlight = 400;
inline constexpr int kMaxWritesInFlight = 200;
inline constexpr std::size_t kMaxWatchBacklogBytes =
    4u << 20;  // a watcher that lags behind more loses its connection
inline constexpr std::size_t kMaxWatchBacklogEvents = 1'000;
inline constexpr std::chrono::seconds kHandshakeTimeout{10};
inline constexpr std::chrono::seconds kIdleTimeout{90};  // between requests of a connection
inline constexpr std::chrono::seconds kHeaderTimeout{
    10};  // from a request's first byte to the end of its header
inline constexpr std::chrono::seconds kBodyTimeout{60};
inline constexpr std::chrono::seconds kWriteTimeout{30};  // of one answer, or one batch of events

struct HttpsServerOptions {
  std::string address = "127.0.0.1";  // an IP address
  std::uint16_t port = 0;             // 0: any that is free
  int threads = 2;
};

class HttpsServer {
 public:
  // Listens when this returns. Errors name the address. `core` is where the router may be used.
  static Result<std::unique_ptr<HttpsServer>> start(Router& router, Executor& core, const Pki& pki,
                                                    HttpsServerOptions options);
  // Ends what stop() did not. The executor must not run any more, or have run all that stop() gave it.
  ~HttpsServer();

  std::uint16_t port() const;

  // Stops accepting, lets requests in flight finish, ends watches, closes; after `grace` closes the hard way.
  // `done` runs on the core's executor after everything that connections still had to do there.
  void stop(std::chrono::seconds grace, std::function<void()> done);

  std::size_t connections() const;

 private:
  struct Impl;
  explicit HttpsServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::apiserver::http
