#include "conformance/embedded_server.h"

#include <stdexcept>
#include <utility>

#include "base/embedded.h"
#include "base/yaml.h"
#include "conformance/exchange.h"

namespace berth::conformance {
namespace {

using apiserver::http::HttpRequest;

apiserver::http::RouterOptions router_options(const apiserver::ApiServer& core) {
  apiserver::http::RouterOptions options;
  options.objects = core.objects();
  options.seed = 7;
  options.tokens.add(kBobsToken, apiserver::http::authenticated("bob", kBobsUid, {"team-a"}));
  options.discovery.server_address = "192.0.2.2:16443";
  options.discovery.checks = {{"ping", nullptr}, {"log", nullptr}, {"storage", nullptr}};
  return options;
}

Time start_time() { return parse_time("2026-11-20T10:00:00Z").value(); }

}  // namespace

EmbeddedServer::EmbeddedServer() : executor_(start_time()) {
  apiserver::ApiServerOptions options;
  options.seed = 1;
  options.controllers = false;  // the recordings are from an API server without controllers
  auto core = apiserver::ApiServer::open(executor_, apiserver::make_memory_log(executor_), options);
  if (!core) throw std::runtime_error(core.error().message);
  core_ = std::move(*core);
  router_ = std::make_unique<apiserver::http::Router>(*core_, core_->registry(), executor_, router_options(*core_));
}

EmbeddedServer::~EmbeddedServer() = default;

Played EmbeddedServer::send(HttpRequest request, const Caller& caller, const Listen& listen,
                            const std::function<void()>& during) {
  if (!caller.name.empty()) request.peer = {caller.name, {"system:masters"}};
  if (!caller.token.empty()) request.headers.push_back({"Authorization", "Bearer " + caller.token});
  if (request.body.size() > apiserver::http::kMaxBodyBytes) {
    request.body.clear();
    request.body_too_large = true;
  }
  return exchange(*router_, executor_, std::move(request), listen, during);
}

void EmbeddedServer::install_kueue() {
  for (const embedded::File& file : embedded::crds()) {
    auto definitions = parse_yaml(file.content);
    for (Json& definition : definitions.value()) {
      conformance::send(*this,
                        {"POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json",
                         std::move(definition)},
                        {});
    }
  }
  executor_.run_until(executor_.now() + std::chrono::seconds(1));
}

std::string EmbeddedServer::revision() { return std::to_string(core_->revision()); }

}  // namespace berth::conformance
