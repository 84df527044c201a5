// A blocking HTTPS client for tests and benchmarks: one connection, one request at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/certificates.h"

namespace berth::testing_support {

struct HttpsAnswer {
  int status = 0;                                   // 0: the connection failed and `body` holds the error
  std::multimap<std::string, std::string> headers;  // names in lower case
  std::string body;
};

class HttpsClient {
 public:
  // A `client` credential without a certificate: none is sent.
  HttpsClient(std::uint16_t port, const std::string& authority_pem, const http::Credential& client);
  HttpsClient(HttpsClient&&) noexcept;
  ~HttpsClient();

  bool connected() const;
  HttpsAnswer request(const std::string& method, const std::string& target, const std::string& body = "",
                      const std::vector<std::pair<std::string, std::string>>& headers = {});
  // Sends bytes unchanged and reads one answer.
  HttpsAnswer raw(const std::string& bytes);

  // A watch: returns the head of the answer; read_line() then returns line after line. It returns an empty line when
  // the stream ended, or when no line came within `timeout` (which ends the stream too).
  HttpsAnswer open_stream(const std::string& target,
                          const std::vector<std::pair<std::string, std::string>>& headers = {});
  std::string read_line(std::chrono::milliseconds timeout = std::chrono::hours(1));

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::testing_support
