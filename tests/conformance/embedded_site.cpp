#include <stdexcept>
#include <utility>

#include "cli/visibility.h"
#include "conformance/configured.h"
#include "conformance/exchange.h"
#include "conformance/site.h"
#include "controller/controller.h"
#include "embedded/apiserver/router/router.h"
#include "embedded/apiserver/server/api_server.h"
#include "embedded/commands/visibility_group.h"
#include "embedded/simulate/world.h"

namespace berth::conformance {
namespace {

// The recorder looked "some seconds later"; each of its actions took a moment too.
constexpr Duration kAfterAction = std::chrono::seconds(1);
constexpr Duration kBeforeLook = std::chrono::seconds(5);
// For effects that the recorder waited longer for: timeouts and backoffs of some seconds.
constexpr Duration kLookAgain = std::chrono::seconds(1);
constexpr int kLooks = 15;

class EmbeddedSite final : public Site {
 public:
  explicit EmbeddedSite(const SiteOptions& site) {
    simulate::WorldOptions options;
    options.configure(configured(site));
    options.start = parse_time("2026-01-01T00:00:00Z").value();
    options.external_kinds = site.external_kinds;
    options.webhooks = site.webhooks;
    options.runs_nodes = false;
    options.leader_worker_sets = false;  // the recordings play its part, and those of the operators
    options.operators = false;
    options.job_controller = site.job_controller;
    options.apps_controllers = site.apps_controllers;
    options.server_controllers = site.garbage_collector;
    auto world = simulate::World::make(options);
    if (!world) throw std::runtime_error(world.error().message);
    world_ = std::move(*world);
    apiserver::http::RouterOptions router;
    router.objects = world_->server().objects();
    router.discovery.virtual_groups.push_back(cli::visibility_group(
        cli::pending_source([this]() -> const controller::Controller& { return world_->controller(); },
                            [this] { return world_->executor().now(); })));
    router_ = std::make_unique<apiserver::http::Router>(world_->server(), world_->server().registry(),
                                                        world_->executor(), std::move(router));
  }

  api::RestResponse call(api::RestRequest request) override { return world_->call(std::move(request)); }
  api::RestResponse call_past_webhooks(api::RestRequest request) override {
    return world_->call_past_webhooks(std::move(request));
  }
  HttpAnswer ask(const std::string& method, const std::string& path, const std::string& as) override {
    apiserver::http::HttpRequest request;
    request.method = method;
    request.target = path;
    request.peer = as.empty() ? http::CertificateSubject{"kubernetes-admin", {"system:masters"}}
                              : http::CertificateSubject{as, {}};
    const Played played = exchange(*router_, world_->executor(), std::move(request));
    auto body = parse_json(played.body);
    return {played.status, body ? std::move(*body) : Json(played.body)};
  }
  Result<api::RestRequest> request_for(std::string_view api_version, std::string_view kind, std::string_view ns,
                                       std::string_view name) const override {
    return world_->request_for(api_version, kind, ns, name);
  }
  Time now() const override { return world_->executor().now(); }
  bool real_time() const override { return false; }
  void after_action() override { world_->run_for(kAfterAction); }
  void wait(Duration time) override { world_->run_for(time); }
  void until(const std::function<bool()>& settled) override {
    world_->run_for(kBeforeLook);
    for (int looks = 1; !settled() && looks < kLooks; ++looks) world_->run_for(kLookAgain);
  }

 private:
  std::unique_ptr<simulate::World> world_;
  std::unique_ptr<apiserver::http::Router> router_;
};

}  // namespace

std::unique_ptr<Site> embedded_site(const SiteOptions& options) { return std::make_unique<EmbeddedSite>(options); }

}  // namespace berth::conformance
