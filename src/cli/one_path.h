// Serves one path of another handler and nothing else.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "http/handler.h"

namespace berth::cli {

class OnePath final : public http::Handler {
 public:
  // `all` must outlive it. `path` begins with "/" and has no query.
  OnePath(http::Handler& all, std::string path) : all_(all), path_(std::move(path)) {}

  std::unique_ptr<Parsed> parse(http::HttpRequest head) const override;
  std::unique_ptr<http::Exchange> execute(std::unique_ptr<Parsed> request,
                                          std::shared_ptr<http::ResponseSink> sink) override;
  http::HttpResponse overloaded() const override { return all_.overloaded(); }

 private:
  struct Elsewhere;

  http::Handler& all_;
  const std::string path_;
};

}  // namespace berth::cli
