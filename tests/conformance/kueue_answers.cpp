#include "conformance/kueue_answers.h"

#include <set>
#include <utility>

#include "api/status.h"

namespace berth::conformance {
namespace {

// Members that differ between two requests with the same meaning.
const std::set<std::string_view> kOwnOfEach = {"uid", "resourceVersion", "creationTimestamp", "managedFields",
                                               "generation"};
// Labels that hold the UID of a Job.
const std::set<std::string_view> kUidLabels = {"controller-uid", "batch.kubernetes.io/controller-uid"};

constexpr int kInvalid = 422;

std::string member_path(const std::string& path, std::string_view key) {
  if (key.find_first_of("./") != std::string_view::npos) return path + "[" + std::string(key) + "]";
  return (path.empty() ? "" : path + ".") + std::string(key);
}

void add_changes(const Json& alone, const Json& stored, const std::string& path, JsonObject& changes) {
  if (json_equal(alone, stored)) return;
  if (!alone.is_object() || !stored.is_object()) {
    changes[path] = stored;
    return;
  }
  for (const auto& [key, value] : stored.get_object()) {
    if ((path == "metadata" && kOwnOfEach.contains(key)) || kUidLabels.contains(key)) continue;
    const Json* before = find(alone, key);
    const std::string at = member_path(path, key);
    if (before == nullptr) {
      if (value.is_object()) {
        add_changes(JsonObject(), value, at, changes);
      } else {
        changes[at] = value;
      }
    } else {
      add_changes(*before, value, at, changes);
    }
  }
  for (const auto& [key, value] : alone.get_object()) {
    if (kUidLabels.contains(key) || find(stored, key) != nullptr) continue;
    changes[member_path(path, key)] = nullptr;
  }
}

// Causes come from the API server only: refusals of Kueue's webhooks (403) have none.
Json refusal(const api::RestResponse& response) {
  Json reported = JsonObject{
      {"code", response.code}, {"reason", api::status_reason(response)}, {"message", api::status_message(response)}};
  const JsonArray& causes = array_at(response.body, {"details", "causes"});
  if (response.code == kInvalid && !causes.empty()) reported.as_object()["causes"] = causes;
  return reported;
}

}  // namespace

Json send_and_report(Site& site, api::RestRequest request) {
  api::RestResponse alone;
  const bool deletion = request.verb == api::Verb::kDelete;
  if (!deletion) {
    api::RestRequest dry = request;
    dry.dry_run = true;
    alone = site.call_past_webhooks(std::move(dry));
  }
  const api::RestResponse response = site.call(std::move(request));
  Json reported = JsonObject();
  if (!response.ok()) {
    reported.as_object()["refused"] = refusal(response);
  } else if (!deletion && alone.ok()) {
    JsonObject changes;
    add_changes(alone.body, response.body, "", changes);
    if (!changes.empty()) reported.as_object()["changed"] = std::move(changes);
  }
  if (!response.warnings.empty()) {
    JsonArray warnings;
    for (const std::string& warning : response.warnings) warnings.emplace_back(warning);
    reported.as_object()["warnings"] = std::move(warnings);
  }
  return reported;
}

}  // namespace berth::conformance
