#include "http/handler.h"

#include <utility>

namespace berth::http {
namespace {

// The exchange of a request that waits for its verdict. Dropping it drops what follows.
struct Handled final : Exchange {
  std::shared_ptr<std::unique_ptr<Exchange>> then = std::make_shared<std::unique_ptr<Exchange>>();
};

}  // namespace

std::unique_ptr<Handler::Parsed> bodiless(HttpRequest head) {
  auto request = std::make_unique<Handler::Parsed>(std::move(head));
  request->max_body = 0;
  return request;
}

void Handler::admit(Parsed&, std::function<void(Verdict)> done) { done(std::nullopt); }

void Handler::decode(Parsed&) const {}

HttpResponse Handler::overloaded() const {
  HttpResponse out = plain_text(429, "too many requests are in flight; try again later\n");
  out.headers.push_back({"Retry-After", "1"});
  return out;
}

std::unique_ptr<Exchange> Handler::handle(HttpRequest request, std::shared_ptr<ResponseSink> sink) {
  std::string body = std::exchange(request.body, {});
  const bool has_body = request.body_too_large || !body.empty();
  auto parsed = std::make_shared<std::unique_ptr<Parsed>>(parse(std::move(request)));
  Parsed& one = **parsed;
  auto handled = std::make_unique<Handled>();
  const auto go_on = [this, parsed, sink, body = std::move(body),
                      then = std::weak_ptr(handled->then)](const Verdict& refusal) {
    const auto place = then.lock();
    if (!place) return;
    if (refusal) return sink->respond([refusal = *refusal] { return refusal; });
    Parsed& in = **parsed;
    in.http.body_too_large = in.http.body_too_large || body.size() > in.max_body;
    if (!in.http.body_too_large) in.http.body = body;
    decode(in);
    *place = execute(std::move(*parsed), sink);
  };
  if (has_body && one.requests) {
    admit(one, go_on);
  } else {
    go_on(std::nullopt);
  }
  return handled;
}

}  // namespace berth::http
