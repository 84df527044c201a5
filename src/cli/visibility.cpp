#include "cli/visibility.h"

#include <memory>
#include <utility>

#include "api/status.h"
#include "cli/what_if_changes.h"
#include "engine/explain/allowance.h"
#include "engine/explain/forecasts.h"
#include "engine/explain/predict.h"
#include "engine/explain/what_if.h"

namespace berth::cli {
namespace {

namespace visibility = api::visibility;

serve::PendingSource::Items items_of(std::optional<std::vector<engine::PendingWorkload>> page) {
  if (!page) return std::nullopt;
  std::vector<visibility::PendingWorkload> items;
  items.reserve(page->size());
  for (auto& each : *page)
    items.push_back({std::move(each.object), each.position_in_cluster_queue, each.position_in_local_queue});
  return items;
}

// After the workloads of the changes: what the devices of their pods count.
void count_devices(const controller::Controller& controller, std::vector<engine::Event>& changes) {
  const std::size_t given = changes.size();
  for (std::size_t i = 0; i < given; ++i) {
    const auto* seen = std::get_if<engine::WorkloadSeen>(&changes[i]);
    if (seen == nullptr) continue;
    const auto& meta = seen->object->meta;
    if (auto charge = controller.device_charge(*seen->object))
      changes.push_back(engine::DevicesCounted{meta.ns, meta.name, meta.uid, std::move(charge)});
  }
}

Result<Json> answer_what_if(const controller::Controller& controller, Time now, const Json& what_if,
                            std::string_view ns) {
  if (const auto local = check_local(what_if, ns); !local) return tl::unexpected(local.error());
  auto changes = changes_of(what_if, controller.engine(), now);
  if (!changes) return tl::unexpected(changes.error());
  count_devices(controller, *changes);
  auto found = engine::what_if(controller.engine(), now, *changes, &controller.forecasts().history());
  if (!ns.empty()) engine::hide_other_namespaces(found, ns);
  return engine::to_json(found);
}

// Users with rights in one namespace do not take the controller's time from all other users.
api::RestResponse too_often(Time again) {
  return {429,
          api::make_status(
              429, "TooManyRequests",
              "what-if questions about namespaces have used up their time; ask again at " + format_time(again)),
          {}};
}

}  // namespace

serve::PendingSource pending_source(std::function<const controller::Controller&()> controller,
                                    std::function<Time()> now) {
  const auto engine = [controller]() -> const engine::Engine& { return controller().engine(); };
  return {[engine](std::string_view queue, visibility::Page page) {
            return items_of(engine().pending_in_cluster_queue(queue, page.offset, page.limit));
          },
          [engine](std::string_view ns, std::string_view queue, visibility::Page page) {
            return items_of(engine().pending_in_local_queue(ns, queue, page.offset, page.limit));
          },
          [engine, now](std::string_view ns, std::string_view workload, bool all) -> std::optional<Json> {
            auto explanation = engine().explain(now(), ns, workload);
            if (!explanation) return std::nullopt;
            if (!all) engine::hide_other_namespaces(*explanation);
            return engine::to_json(*explanation);
          },
          [controller](std::string_view ns, std::string_view workload, bool all) -> std::optional<Json> {
            auto prediction = controller().forecasts().about(ns, workload);
            if (!prediction) return std::nullopt;
            if (!all) engine::hide_other_namespaces(*prediction);
            return engine::to_json(*prediction);
          },
          [controller, now, allowance = std::make_shared<engine::Allowance>()](
              const Json& what_if, std::string_view ns) -> tl::expected<Json, api::RestResponse> {
            const Time begin = now();
            if (!ns.empty() && !allowance->allows(begin)) return tl::unexpected(too_often(allowance->next()));
            auto answer = answer_what_if(controller(), begin, what_if, ns);
            if (!ns.empty()) allowance->charge(begin, now() - begin);
            if (!answer) return tl::unexpected(api::bad_request(answer.error().message));
            return std::move(*answer);
          }};
}

}  // namespace berth::cli
