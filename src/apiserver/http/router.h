// From HTTP requests to the API server's core and back. It knows no sockets: the same router serves HTTPS and
// tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "api/rest.h"
#include "apiserver/discovery/discovery.h"
#include "apiserver/http/access.h"
#include "apiserver/http/message.h"
#include "apiserver/registry.h"
#include "base/executor.h"
#include "base/metrics.h"

namespace berth::apiserver::http {

struct RouterOptions {
  TokenTable tokens;
  Metrics* metrics = nullptr;  // counts apiserver_request_total there; must outlive the router
  discovery::DiscoveryOptions discovery;
  std::uint64_t seed = 0;  // of audit ids and of when watches end; 0: from the operating system
};

// A request after all that can be done without the server's state: split, decoded, its sender known.
struct ParsedRequest;
struct ParsedRequestDeleter {
  void operator()(ParsedRequest* request) const;
};
using ParsedRequestPtr = std::unique_ptr<ParsedRequest, ParsedRequestDeleter>;

class Router {
 public:
  Router(api::RestClient& core, const Registry& registry, Executor& executor, RouterOptions options = {});
  ~Router();

  // On any thread.
  ParsedRequestPtr parse(HttpRequest request) const;
  // On the executor. The answer may come before this returns or later; keep the exchange until then.
  std::unique_ptr<Exchange> execute(ParsedRequestPtr request, std::shared_ptr<ResponseSink> sink);
  // Both.
  std::unique_ptr<Exchange> handle(HttpRequest request, std::shared_ptr<ResponseSink> sink);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The methods a path of a resource takes: for Allow headers.
std::string allowed_methods(const ResourceInfo& resource, bool named, std::string_view subresource);

}  // namespace berth::apiserver::http
