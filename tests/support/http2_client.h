// An HTTP/2 client over TLS for tests and benchmarks: one connection, several requests at a time, on the caller's
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "http/certificates.h"
#include "support/http2_peer.h"

namespace berth::testing_support {

class Http2Client {
 public:
  // Connects to 127.0.0.1. A `client` credential without a certificate: none is sent.
  Http2Client(std::uint16_t port, const std::string& authority_pem, const http::Credential& client,
              Http2Peer::Options options = {});
  Http2Client(Http2Client&&) noexcept;
  ~Http2Client();

  bool connected() const;             // connected, and HTTP/2 was negotiated
  Http2Peer& peer();                  // run() sends its output
  void send(std::string_view bytes);  // unchanged
  bool ended() const;                 // the server closed the connection
  // Sends and receives until `done` returns true. Returns false after `timeout`, or when the server closed the
  // connection.
  bool run(const std::function<bool()>& done, std::chrono::milliseconds timeout = std::chrono::seconds(60));
  // Sends one request and waits for its answer.
  Http2Answer request(const std::string& method, const std::string& path, std::string body = {},
                      Http2Peer::Headers headers = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::testing_support
