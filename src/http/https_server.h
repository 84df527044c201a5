// Serves a handler over HTTPS (HTTP/2 or HTTP/1.1, chosen by ALPN), or over plain HTTP/1.1. The server's own I/O
// threads read requests, check certificates and encode responses; work that touches state runs on the core executor.
// The limits are in limits.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/executor.h"
#include "base/result.h"
#include "http/handler.h"
#include "http/limits.h"
#include "http/tls.h"

namespace berth::http {

struct HttpsServerOptions {
  std::string address = "127.0.0.1";  // an IP address
  std::uint16_t port = 0;             // 0: any free port
  int threads = 2;
  std::size_t max_body_bytes = kMaxBodyBytes;
  std::chrono::milliseconds turn_timeout = kTurnTimeout;  // how long requests wait while too many are in flight
  // Limits of what is kept for requests of clients without credentials.
  std::size_t stranger_bytes_per_peer = kMaxStrangerBytesPerPeer;
  std::size_t stranger_bytes = kMaxStrangerBytes;
};

class HttpsServer {
 public:
  // Listens when this returns. Errors name the address. The handler's execute() runs on `core`; both must outlive the
  // server. Without a TLS context the server speaks plain HTTP.
  static Result<std::unique_ptr<HttpsServer>> start(Handler& handler, Executor& core, TlsContext tls,
                                                    HttpsServerOptions options);
  // Like start(), but only reserves the address: connections are refused until listen(). For a server that gets its
  // certificate later.
  static Result<std::unique_ptr<HttpsServer>> bind(Handler& handler, Executor& core, HttpsServerOptions options);
  // Starts to accept connections on the port that bind() reserved. Call it once; after an error it may be called
  // again. The error names the address.
  Result<void> listen();
  // Ends everything that stop() has not ended. The executor must no longer run, or must have run everything that
  // stop() posted to it.
  ~HttpsServer();

  std::uint16_t port() const;

  // Sets the TLS context of new connections; existing connections keep theirs. From any thread.
  void use(TlsContext tls);

  // Stops accepting, lets running requests finish, ends watches and closes the connections; after `grace` it closes
  // the rest at once. `done` runs on the core executor, after everything that the connections posted there.
  void stop(std::chrono::seconds grace, std::function<void()> done);

  std::size_t connections() const;

 private:
  struct Impl;
  explicit HttpsServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::http
