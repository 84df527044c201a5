#include "cli/one_path.h"

namespace berth::cli {

struct OnePath::Elsewhere final : Parsed {};

std::unique_ptr<http::Handler::Parsed> OnePath::parse(http::HttpRequest request) const {
  const bool here = request.target.substr(0, request.target.find('?')) == path_;
  auto parsed = here ? all_.parse(std::move(request)) : std::make_unique<Elsewhere>();
  parsed->max_body = 0;  // pages are only read
  parsed->requests = false;
  return parsed;
}

std::unique_ptr<http::Exchange> OnePath::execute(std::unique_ptr<Parsed> request,
                                                 std::shared_ptr<http::ResponseSink> sink) {
  if (dynamic_cast<Elsewhere*>(request.get()) == nullptr) return all_.execute(std::move(request), std::move(sink));
  sink->respond([] { return http::not_found_page(); });
  return nullptr;
}

}  // namespace berth::cli
