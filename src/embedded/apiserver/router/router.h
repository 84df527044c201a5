// Translates HTTP requests to calls of the API server's core and back. It uses no sockets: the same router serves
// HTTPS and tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "api/rest.h"
#include "base/executor.h"
#include "base/metrics.h"
#include "embedded/apiserver/discovery/discovery.h"
#include "embedded/apiserver/http/access.h"
#include "embedded/apiserver/http/message.h"
#include "embedded/apiserver/http/service_account_tokens.h"
#include "embedded/apiserver/registry.h"
#include "http/handler.h"

namespace berth::apiserver::http {

struct RouterOptions {
  TokenTable tokens;
  std::optional<TokenSigner> signer;  // issues and verifies service account tokens; nullopt: no such tokens
  // Looks up roles, bindings and the objects that tokens name; empty: nobody has a role, and no such token is valid.
  Lookup objects;
  Metrics* metrics = nullptr;  // counts apiserver_request_total; must outlive the router
  discovery::DiscoveryOptions discovery;
  // Seeds audit ids and the random timeout of watches; 0: a random seed from the operating system.
  std::uint64_t seed = 0;
};

class Router final : public berth::http::Handler {
 public:
  Router(api::RestClient& core, const Registry& registry, Executor& executor, RouterOptions options = {});
  ~Router() override;

  std::unique_ptr<Parsed> parse(HttpRequest head) const override;
  void admit(Parsed& request, std::function<void(Verdict)> done) override;
  void decode(Parsed& request) const override;
  std::unique_ptr<Exchange> execute(std::unique_ptr<Parsed> request, std::shared_ptr<ResponseSink> sink) override;
  HttpResponse overloaded() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::apiserver::http
