// Puts a handler on HTTPS, where HTTP/2 and HTTP/1.1 are spoken as the client wishes, or on plain HTTP/1.1: I/O threads of its own read
// requests, check certificates and encode answers; what touches state runs on the core's executor. limits.h says what is bounded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "http/handler.h"
#include "http/limits.h"
#include "http/tls.h"
#include "base/executor.h"
#include "base/result.h"

namespace berth::http {

struct HttpsServerOptions {
  std::string address = "127.0.0.1";  // an IP address
  std::uint16_t port = 0;             // 0: any that is free
  int threads = 2;
  std::size_t max_body_bytes = kMaxBodyBytes;
  std::chrono::milliseconds turn_timeout = kTurnTimeout;  // how long requests wait while too many are in flight
};

class HttpsServer {
 public:
  // Listens when this returns. Errors name the address. `core` is where the handler may be used; both must outlive the server.
  // Without a TLS context it speaks plain HTTP.
  static Result<std::unique_ptr<HttpsServer>> start(Handler& handler, Executor& core, TlsContext tls,
                                                    HttpsServerOptions options);
  // As start(), but only takes the address: connections are refused until listen(). For a server whose certificate comes later.
  static Result<std::unique_ptr<HttpsServer>> bind(Handler& handler, Executor& core, HttpsServerOptions options);
  // Opens the port that bind() took. Once; after an error it may be called again. The error names the address.
  Result<void> listen();
  // Ends what stop() did not. The executor must not run any more, or have run all that stop() gave it.
  ~HttpsServer();

  std::uint16_t port() const;

  // For connections that begin from now on; the others keep what they have. From any thread.
  void use(TlsContext tls);

  // Stops accepting, lets requests in flight finish, ends watches, closes; after `grace` closes the hard way.
  // `done` runs on the core's executor after everything that connections still had to do there.
  void stop(std::chrono::seconds grace, std::function<void()> done);

  std::size_t connections() const;

 private:
  struct Impl;
  explicit HttpsServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::http
