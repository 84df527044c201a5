// HTTP requests and responses as values: input and output of a handler, without sockets.
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
  bool body_too_large = false;             // the body exceeded the server's limit and was dropped
  std::optional<CertificateSubject> peer;  // from the verified client certificate; nullopt without one
  std::string peer_address;                // the client's IP address, or that of a proxy in front; "" when unknown
  std::string peer_error;  // why the client's certificate is not trusted; empty when it is, or when there is none

  // The first value of a header (names compare without case); empty when absent.
  std::string_view header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::vector<Header> headers;
  std::string body;

  std::string_view header(std::string_view name) const;
};

// Bytes that several connections send: a watch event is encoded once for all of them.
using SharedBytes = std::shared_ptr<const std::string>;

// The target of a response. The handler calls it on the executor: either respond() once, or begin(), chunk()... and
// end(). When the client is gone, the calls have no effect.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;
  // `make` encodes the response. It is called at most once, on any thread.
  virtual void respond(std::function<HttpResponse()> make) = 0;
  virtual void begin(int status, std::vector<Header> headers) = 0;
  // False: the backlog is full enough; the handler must pause until the function that it gave to on_room() is called
  // on the executor. If the handler does not pause, the sink drops the client.
  virtual bool chunk(SharedBytes bytes) = 0;
  virtual void on_room(std::function<void()> handler) = 0;  // call it before begin()
  virtual void end() = 0;
};

// A request in progress. Destroying it (on the executor) drops the rest of the response and ends a watch.
class Exchange {
 public:
  virtual ~Exchange() = default;
};

HttpResponse plain_text(int status, std::string text);
HttpResponse not_found_page();  // the response for unknown paths

// Limit of request bodies, unless a server sets another one: the same as the API server's limit for writes.
inline constexpr std::size_t kMaxBodyBytes = 3u << 20;

}  // namespace berth::http
