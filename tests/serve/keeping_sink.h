// Sends a request to a handler without a server, and keeps the response.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "http/handler.h"

namespace berth::serve {

struct KeepingSink final : http::ResponseSink {
  std::optional<http::HttpResponse> response;  // none: not answered yet

  void respond(std::function<http::HttpResponse()> make) override { response = make(); }
  void begin(int, std::vector<http::Header>) override {}
  bool chunk(http::SharedBytes) override { return true; }
  void on_room(std::function<void()>) override {}
  void end() override {}
};

inline std::shared_ptr<KeepingSink> ask(http::Handler& handler, http::HttpRequest request) {
  auto sink = std::make_shared<KeepingSink>();
  (void)handler.handle(std::move(request), sink);
  return sink;
}

inline http::HttpRequest request_of(std::string method, std::string target, std::string body = {},
                                    std::vector<http::Header> headers = {}) {
  http::HttpRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.body = std::move(body);
  request.headers = std::move(headers);
  return request;
}

}  // namespace berth::serve
