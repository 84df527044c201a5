#include "cli/visibility.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
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

// The time of what-if questions about namespaces: all together have an Allowance, and each namespace has one of its own
// that is used up first, so that users of one do not take the time of all others.
class LocalTime {
 public:
  // When questions about the namespace are answered again, if they are not answered now.
  std::optional<Time> refused_until(const std::string& ns, Time now) const {
    const auto own = own_.find(ns);
    const Time next = std::max(all_.next(), own == own_.end() ? Time::min() : own->second.next());
    return next <= now ? std::nullopt : std::optional(next);
  }
  void charge(const std::string& ns, Time now, Duration took) {
    all_.charge(now, took);
    std::erase_if(own_, [now](const auto& each) { return each.second.next() <= now - engine::Allowance::kBurst; });
    own_.try_emplace(ns, kPriceOfOne).first->second.charge(now, took);
  }

 private:
  static constexpr int kPriceOfOne = 4 * engine::Allowance::kPrice;
  engine::Allowance all_;
  std::map<std::string, engine::Allowance> own_;  // of namespaces that still owe
};

// Clients that know the header Retry-After, such as berth's own, ask again by themselves.
api::RestResponse too_often(Time now, Time again) {
  const auto wait = std::chrono::ceil<std::chrono::seconds>(again - now).count();
  return {
      429,
      api::make_status(429, "TooManyRequests",
                       "what-if questions about namespaces have used up their time; ask again at " + format_time(again),
                       JsonObject{{"retryAfterSeconds", std::max<std::int64_t>(wait, 1)}}),
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
          [controller, now, time = std::make_shared<LocalTime>()](
              const Json& what_if, std::string_view ns) -> tl::expected<Json, api::RestResponse> {
            const Time begin = now();
            const std::string of(ns);
            if (const auto again = time->refused_until(of, begin); again && !of.empty())
              return tl::unexpected(too_often(begin, *again));
            auto answer = answer_what_if(controller(), begin, what_if, ns);
            if (!of.empty()) time->charge(of, begin, now() - begin);
            if (!answer) return tl::unexpected(api::bad_request(answer.error().message));
            return std::move(*answer);
          }};
}

}  // namespace berth::cli
