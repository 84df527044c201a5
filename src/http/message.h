// HTTP requests and answers as values: what a handler eats and makes, without sockets.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/certificates.h"

namespace berth::http {

struct Header {
  std::string name;
  std::string value;
};

struct HttpRequest {
  std::string method;  // upper case: "GET"
  std::string target;  // path and query as sent: "/api/v1/pods?limit=5"
  std::vector<Header> headers;
  std::string body;
  bool body_too_large = false;   // the body was over the server's limit and was not kept
  std::optional<CertificateSubject> peer;  // of the verified client certificate; nullopt without one
  std::string peer_error;        // why a client certificate that was presented is not trusted

  // The first value of a header (names compare without case); empty when absent.
  std::string_view header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::vector<Header> headers;
  std::string body;

  std::string_view header(std::string_view name) const;
};

// Bytes that several connections send: events of watches are encoded once.
using SharedBytes = std::shared_ptr<const std::string>;

// Where an answer goes. The handler calls it on the executor, either respond() once, or begin(), chunk()...
// and end(). A sink whose client is gone ignores what comes.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;
  // `make` encodes the answer; it may be called on any thread, once.
  virtual void respond(std::function<HttpResponse()> make) = 0;
  virtual void begin(int status, std::vector<Header> headers) = 0;
  // False: enough waits to be sent; the handler shall pause until what it gave to on_room() is called, on the executor. A sink that
  // goes on being handed more gives up its client.
  virtual bool chunk(SharedBytes bytes) = 0;
  virtual void on_room(std::function<void()> handler) = 0;  // before begin()
  virtual void end() = 0;
};

// A request that is being answered. Destroying it (on the executor) drops what is left of the answer and ends
// a watch.
class Exchange {
 public:
  virtual ~Exchange() = default;
};

HttpResponse plain_text(int status, std::string text);
HttpResponse not_found_page();  // what paths answer that mean nothing

// Bodies of requests, unless a server sets another limit: as the API server's for writes.
inline constexpr std::size_t kMaxBodyBytes = 3u << 20;

}  // namespace berth::http
