#include <stdexcept>
#include <utility>

#include "conformance/site.h"
#include "simulate/world.h"

namespace berth::conformance {
namespace {

// The recorder looked "some seconds later"; every action of its own took a moment too.
constexpr Duration kAfterAction = std::chrono::seconds(1);
constexpr Duration kBeforeLook = std::chrono::seconds(5);

class EmbeddedSite final : public Site {
 public:
  EmbeddedSite() {
    simulate::WorldOptions options;
    options.start = parse_time("2026-01-01T00:00:00Z").value();
    options.webhooks = false;
    options.machines = false;
    auto world = simulate::World::make(options);
    if (!world) throw std::runtime_error(world.error().message);
    world_ = std::move(*world);
  }

  api::RestResponse call(api::RestRequest request) override { return world_->call(std::move(request)); }
  Result<api::RestRequest> request_for(std::string_view api_version, std::string_view kind,
                                       std::string_view ns, std::string_view name) const override {
    return world_->request_for(api_version, kind, ns, name);
  }
  Time now() const override { return world_->executor().now(); }
  bool real_time() const override { return false; }
  void after_action() override { world_->run_for(kAfterAction); }
  void until(const std::function<bool()>& settled) override {
    world_->run_for(kBeforeLook);
    settled();
  }

 private:
  std::unique_ptr<simulate::World> world_;
};

}  // namespace

std::unique_ptr<Site> embedded_site() { return std::make_unique<EmbeddedSite>(); }

}  // namespace berth::conformance
