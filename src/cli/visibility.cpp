#include "cli/visibility.h"

#include <utility>

#include "cli/what_if_changes.h"
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
          [engine, controller, now](std::string_view ns, std::string_view workload, bool all) -> std::optional<Json> {
            const std::string key = std::string(ns) + "/" + std::string(workload);
            auto prediction = std::move(engine::predict(engine(), controller().run_history(), now(), {key}).front());
            if (!prediction.found) return std::nullopt;
            if (!all) engine::hide_other_namespaces(prediction);
            return engine::to_json(prediction);
          },
          [engine, controller, now](const Json& what_if) -> Result<Json> {
            auto changes = changes_of(what_if, engine(), now());
            if (!changes) return tl::unexpected(changes.error());
            count_devices(controller(), *changes);
            return engine::to_json(engine::what_if(engine(), now(), *changes, &controller().run_history()));
          }};
}

}  // namespace berth::cli
