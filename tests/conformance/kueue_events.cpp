#include "conformance/kueue_events.h"

#include <re2/re2.h>

#include <map>
#include <string_view>
#include <vector>

#include "conformance/kueue_shown.h"

namespace berth::conformance {
namespace {

// By subject and reason; equal events are merged.
using Sets = std::map<std::string, std::map<std::string, Json>>;

// The event without UIDs and durations, which differ between runs.
std::string sort_key(const Json& event) {
  std::string key = canonical_json(event);
  RE2::GlobalReplace(&key, R"([0-9a-f]{8}-[0-9a-f-]{27}|<uid\d+>)", "#");
  return key;
}

Json shown(const Json& event, std::string note, bool with_action) {
  RE2::GlobalReplace(&note, R"(was (\d+|<n>)s)", "was <n>s");
  Json out = JsonObject{{"type", member(event, "type")}, {"note", note}};
  if (with_action) out.as_object()["action"] = member(event, "action");
  return out;
}

void add(Sets& sets, const std::string& on, const Json& event, Json shown) {
  sets[on + " " + std::string(string_at(event, {"reason"}))].emplace(sort_key(shown), std::move(shown));
}

bool of_kueue(std::string_view controller) {
  return controller.starts_with("kueue-") || controller.ends_with("-kueue-controller");
}

Json as_json(Sets sets) {
  Json out = JsonObject();
  for (auto& [subject, events] : sets) {
    JsonArray list;
    for (auto& [key, event] : events) list.push_back(std::move(event));
    if (!list.empty()) out.as_object()[subject] = std::move(list);
  }
  return out;
}

bool same(const Json& recorded, const Json& actual, Bindings bindings) {
  return compare(recorded, actual, bindings).empty();
}

// Removes an event that occurred in some recorded runs only.
void forget(Sets& sets, const std::string& subject, const Json& maybe, const Bindings& bindings) {
  const auto there = sets.find(subject);
  if (there == sets.end()) return;
  for (auto it = there->second.begin(); it != there->second.end(); ++it) {
    if (!same(maybe, it->second, bindings)) continue;
    there->second.erase(it);
    return;
  }
}

Sets actual_events(Stage& stage, std::set<std::string>& seen, bool with_action) {
  Sets sets;
  for (const auto& event : stage.list("events.k8s.io/v1", "Event")) {
    const std::string controller(string_at(event, {"reportingController"}));
    if (!of_kueue(controller)) continue;
    const std::string version = std::string(string_at(event, {"metadata", "uid"})) + "@" +
                                std::string(string_at(event, {"metadata", "resourceVersion"}));
    if (!seen.insert(version).second) continue;
    const std::string on = stage.reported(std::string(string_at(event, {"regarding", "kind"})) + "/" +
                                          std::string(string_at(event, {"regarding", "name"})));
    Json one = shown(event, std::string(string_at(event, {"note"})), with_action);
    one.as_object()["controller"] = controller;
    add(sets, on, event, std::move(one));
  }
  return sets;
}

}  // namespace

EventSets events_of(Stage& stage, const LeftOut& left_out, const Json& step, std::set<std::string>& seen) {
  const JsonArray& list = array_at(step, {"newEvents"});
  const bool with_action = list.empty() || find(list[0], "action") != nullptr;
  Sets recorded, actual = actual_events(stage, seen, with_action);
  for (const auto& event : list) {
    const std::string on(string_at(event, {"on"}));
    if (left_out.on(on) || !of_kueue(string_at(event, {"controller"}))) continue;
    // Replaces bound placeholders in notes, so that both sides are sorted the same way.
    Json one = shown(event, stage.bindings().substitute(string_at(event, {"note"})), with_action);
    one.as_object()["controller"] = member(event, "controller");
    if (bool_at(event, {"maybe"})) {
      forget(actual, on + " " + std::string(string_at(event, {"reason"})), one, stage.bindings());
    } else {
      add(recorded, on, event, std::move(one));
    }
  }
  return {as_json(std::move(recorded)), as_json(std::move(actual))};
}

}  // namespace berth::conformance
