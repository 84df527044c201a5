#include "apiserver/server/events.h"

#include <array>
#include <utility>

namespace berth::apiserver {
namespace {

struct Renamed {
  std::string_view events, core;
};
constexpr std::array<Renamed, 7> kRenamed{{{"note", "message"},
                                           {"regarding", "involvedObject"},
                                           {"reportingController", "reportingComponent"},
                                           {"deprecatedSource", "source"},
                                           {"deprecatedFirstTimestamp", "firstTimestamp"},
                                           {"deprecatedLastTimestamp", "lastTimestamp"},
                                           {"deprecatedCount", "count"}}};

Json renamed(Json event, std::string_view api_version, bool to_core) {
  if (!event.is_object()) return event;
  JsonObject result;
  for (auto& member : event.as_object()) {
    std::string_view key(member.key().data(), member.key().size());
    for (const Renamed& names : kRenamed) {
      if (key == (to_core ? names.events : names.core)) {
        key = to_core ? names.core : names.events;
        break;
      }
    }
    result.insert_or_assign(key, std::move(member.value()));
  }
  result.insert_or_assign("apiVersion", api_version);
  return result;
}

}  // namespace

Json event_to_core(Json event) {
  Json core = renamed(std::move(event), "v1", true);
  if (!core.is_object()) return core;
  // Members every core Event has, whatever wrote it.
  JsonObject& object = core.as_object();
  object.emplace("source", JsonObject{});
  object.emplace("firstTimestamp", nullptr);
  object.emplace("lastTimestamp", nullptr);
  return core;
}

Json event_from_core(Json event) { return renamed(std::move(event), "events.k8s.io/v1", false); }

}  // namespace berth::apiserver
