// The interface that answers the requests of an HTTPS server.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "http/message.h"

namespace berth::http {

// A request takes these steps: parse() looks at its head. If a body follows and Parsed::asks is set, admit() decides
// whether it is read. decode() reads the body's bytes. execute() answers.
class Handler {
 public:
  // A request from its head to its answer.
  class Parsed {
   public:
    explicit Parsed(HttpRequest head = {}) : http(std::move(head)) {}
    virtual ~Parsed() = default;

    HttpRequest http;       // its body comes after parse()
    bool known = false;     // the client has shown valid credentials; otherwise the limits for strangers apply
    bool requests = false;  // the body is read only if admit() allows it
    std::size_t max_body =
        std::numeric_limits<std::size_t>::max();  // larger ones are dropped; so is the server's limit
    std::shared_ptr<void> share;                  // what the request takes from the limits for strangers
  };

  virtual ~Handler() = default;
  // On any thread: identifies the caller. `head` has no body.
  virtual std::unique_ptr<Parsed> parse(HttpRequest head) const = 0;
  // On the executor, before the body is read: calls `done` with the answer that refuses the request, or with nullopt;
  // at once or later.
  using Verdict = std::optional<HttpResponse>;
  virtual void admit(Parsed& request, std::function<void(Verdict)> done);
  // On any thread, when the body has come (Parsed::http.body, or body_too_large).
  virtual void decode(Parsed& request) const;
  // On the executor. The answer may come before or after this returns. The caller keeps the exchange until it is
  // complete.
  virtual std::unique_ptr<Exchange> execute(std::unique_ptr<Parsed> request, std::shared_ptr<ResponseSink> sink) = 0;
  // On any thread: the answer when too many requests are in flight. 429, as plain text unless the handler overrides
  // it.
  virtual HttpResponse overloaded() const;

  // All steps of a request that is complete, as a server takes them. On the executor.
  std::unique_ptr<Exchange> handle(HttpRequest request, std::shared_ptr<ResponseSink> sink);
};

// For handlers that read no bodies.
std::unique_ptr<Handler::Parsed> bodiless(HttpRequest head);

}  // namespace berth::http
