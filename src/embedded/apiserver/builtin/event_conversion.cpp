#include "embedded/apiserver/builtin/event_conversion.h"

#include <string_view>
#include <utility>

namespace berth::apiserver {
namespace {

// The fields with different names in events.k8s.io/v1 and core/v1.
constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
    {"regarding", "involvedObject"},
    {"note", "message"},
    {"reportingController", "reportingComponent"},
    {"deprecatedSource", "source"},
    {"deprecatedFirstTimestamp", "firstTimestamp"},
    {"deprecatedLastTimestamp", "lastTimestamp"},
    {"deprecatedCount", "count"},
};

Json rename(const Json& event, bool to_core) {
  JsonObject result;
  for (const auto& member : event.as_object()) {
    std::string_view key = member.key();
    for (const auto& [events_name, core_name] : kRenamed) {
      if (key == (to_core ? events_name : core_name)) {
        key = to_core ? core_name : events_name;
        break;
      }
    }
    result[key] = member.value();
  }
  result["apiVersion"] = to_core ? "v1" : "events.k8s.io/v1";
  result["kind"] = "Event";
  // Members that one form omits when empty and the other always has.
  if (to_core) {
    if (!result.contains("reportingComponent")) result["reportingComponent"] = "";
    if (!result.contains("reportingInstance")) result["reportingInstance"] = "";
  } else {
    for (std::string_view key : {"reportingController", "reportingInstance"}) {
      const Json* value = result.if_contains(key);
      if (value != nullptr && value->is_string() && value->get_string().empty()) result.erase(key);
    }
  }
  return result;
}

}  // namespace

Json to_core_event(const Json& events_event) { return rename(events_event, true); }
Json to_events_event(const Json& core_event) { return rename(core_event, false); }

}  // namespace berth::apiserver
