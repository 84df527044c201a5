#include "cli/queues/warnings.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "api/resources.h"
#include "cli/queues/lister.h"

namespace berth::cli::queues {
namespace {

constexpr std::string_view kGroupName = "kueue.x-k8s.io/pod-group-name";

using Uids = std::set<std::string, std::less<>>;

// When it happened last, as RFC 3339 text in UTC, which sorts by time.
std::string_view last_time(const Json& event) {
  return std::max({string_at(event, {"series", "lastObservedTime"}), string_at(event, {"eventTime"}),
                   string_at(event, {"deprecatedLastTimestamp"})});
}

std::string_view pod_group_of(const Json& pod) {
  return string_at(pod, {"metadata", "annotations", kGroupName}, string_at(pod, {"metadata", "labels", kGroupName}));
}

// The uid of the object; of a pod in a group, those of all pods of the group: warnings are on one of them.
Result<Uids> reported_about(const Session& session, Opened& opened, const ForObject& job) {
  Uids uids{std::string(string_at(*job.object, {"metadata", "uid"}))};
  const std::string_view group = pod_group_of(*job.object);
  if (group.empty() || job.resource.resource != api::kPods) return uids;
  auto pods = list_objects(session, *opened.server, {api::kPods, "Pod", opened.ns, {}, {}});
  if (!pods) return tl::unexpected(pods.error());
  for (const Json& pod : *pods) {
    if (pod_group_of(pod) == group) uids.emplace(string_at(pod, {"metadata", "uid"}));
  }
  return uids;
}

std::string newest(const JsonArray& events, const Uids& uids) {
  const Json* found = nullptr;
  for (const Json& event : events) {
    if (!uids.contains(string_at(event, {"regarding", "uid"}))) continue;
    if (found == nullptr || last_time(*found) <= last_time(event)) found = &event;
  }
  if (found == nullptr) return "";
  return std::string(string_at(*found, {"reason"})) + ": " + std::string(string_at(*found, {"note"}));
}

}  // namespace

const Result<JsonArray>& Warnings::events() {
  if (!events_)
    events_ = list_objects(session_, *opened_.server, {api::kEvents, "Event", opened_.ns, {}, "type=Warning"});
  return *events_;
}

Result<std::string> Warnings::about(const ForObject& object) {
  const auto uids = reported_about(session_, opened_, object);
  if (!uids) return tl::unexpected(uids.error());
  if (!events()) return tl::unexpected(events().error());
  return newest(*events(), *uids);
}

Result<std::string> Warnings::about(std::string_view uid) {
  if (!events()) return tl::unexpected(events().error());
  return newest(*events(), {std::string(uid)});
}

}  // namespace berth::cli::queues
