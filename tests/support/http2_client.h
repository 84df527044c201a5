// A client of HTTP/2 over TLS for tests and benchmarks: one connection, many requests at a time, on the
// thread that calls it.
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
  // Connects to 127.0.0.1. `client` without a certificate: none is presented.
  Http2Client(std::uint16_t port, const std::string& authority_pem, const http::Credential& client,
              Http2Peer::Options options = {});
  Http2Client(Http2Client&&) noexcept;
  ~Http2Client();

  bool connected() const;             // and HTTP/2 was agreed on
  Http2Peer& peer();                  // what it says is sent by run()
  void send(std::string_view bytes);  // as they are
  bool ended() const;                 // the server closed
  // Sends and receives until `done`; false when that did not come within `patience` or the server closed.
  bool run(const std::function<bool()>& done, std::chrono::milliseconds patience = std::chrono::seconds(60));
  // One request, answered.
  Http2Answer request(const std::string& method, const std::string& path, std::string body = {},
                      Http2Peer::Headers headers = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::testing_support
