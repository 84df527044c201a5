// The interface that answers the requests of an HTTPS server.
#pragma once

#include <memory>

#include "http/message.h"

namespace berth::http {

class Handler {
 public:
  // A request after all processing that needs no server state.
  class Parsed {
   public:
    virtual ~Parsed() = default;
  };

  virtual ~Handler() = default;
  // On any thread: decodes large bodies and identifies the caller.
  virtual std::unique_ptr<Parsed> parse(HttpRequest request) const = 0;
  // On the executor. The answer may come before or after this returns. The caller keeps the exchange until it is
  // complete.
  virtual std::unique_ptr<Exchange> execute(std::unique_ptr<Parsed> request, std::shared_ptr<ResponseSink> sink) = 0;
  // On any thread: the answer when too many requests are in flight. 429, as plain text unless the handler overrides
  // it.
  virtual HttpResponse overloaded() const;
};

// For handlers with no parsing of their own: holds the request unchanged.
struct PlainRequest final : Handler::Parsed {
  explicit PlainRequest(HttpRequest r) : request(std::move(r)) {}
  HttpRequest request;
};

}  // namespace berth::http
