// What answers the requests of an HTTPS server.
#pragma once

#include <memory>

#include "http/message.h"

namespace berth::http {

class Handler {
 public:
  // A request after all that can be done without state.
  class Parsed {
   public:
    virtual ~Parsed() = default;
  };

  virtual ~Handler() = default;
  // On any thread: decodes what is large, recognises who asks.
  virtual std::unique_ptr<Parsed> parse(HttpRequest request) const = 0;
  // On the executor. The answer may come before this returns or later; the exchange is kept until then.
  virtual std::unique_ptr<Exchange> execute(std::unique_ptr<Parsed> request, std::shared_ptr<ResponseSink> sink) = 0;
  // On any thread: the answer when too many requests are in flight. 429, as plain text unless a handler knows better.
  virtual HttpResponse overloaded() const;
};

// For handlers that need no parsing of their own: the request as it came.
struct PlainRequest final : Handler::Parsed {
  explicit PlainRequest(HttpRequest r) : request(std::move(r)) {}
  HttpRequest request;
};

}  // namespace berth::http
