#include "console/rows/workload_row.h"

#include <algorithm>
#include <set>

#include "api/core/pod_resources.h"
#include "api/kueue/types.h"
#include "api/owners.h"
#include "console/rows/fields.h"
#include "console/rows/short_reason.h"

namespace berth::console {
namespace {

namespace kueue = api::kueue;

struct WorkloadConditions {
  explicit WorkloadConditions(const Json& workload)
      : reserved(condition_of(workload, kueue::kQuotaReserved)),
        admitted(condition_of(workload, kueue::kAdmitted)),
        evicted(condition_of(workload, kueue::kEvicted)),
        requeued(condition_of(workload, kueue::kRequeued)),
        finished(condition_of(workload, kueue::kFinished)) {}
  const Json *reserved, *admitted, *evicted, *requeued, *finished;
};

// "evicted": its job is being stopped, or it waits for its turn to be queued again.
std::string_view state_of(const Json& workload, const WorkloadConditions& c) {
  if (is_true(c.finished)) return "finished";
  const bool holds = is_true(c.reserved);
  if (!bool_at(workload, {"spec", "active"}, true) && !holds) return "inactive";
  if (is_true(c.evicted) && (holds || is_false(c.requeued))) return "evicted";
  if (holds) return is_true(c.admitted) ? "admitted" : "quotaReserved";
  return "pending";
}

// The short words are made of the whole message, which may be longer than what a row has of it.
void put_waiting(JsonObject& row, const Json* condition) {
  put_why(row, condition);
  const Json none;
  const Json& why = condition == nullptr ? none : *condition;
  row["why"] = short_reason(string_at(why, {"reason"}), string_at(why, {"message"}));
}

void put_reason(JsonObject& row, std::string_view state, const WorkloadConditions& c) {
  if (state == "finished") {
    const bool failed = c.finished != nullptr && string_at(*c.finished, {"reason"}) == "Failed";
    row["result"] = failed ? "failed" : "succeeded";
    put_why(row, c.finished);
  } else if (state == "evicted" || (state == "inactive" && is_true(c.evicted))) {
    put_waiting(row, c.evicted);
  } else if (state == "quotaReserved") {
    put_waiting(row, c.admitted);
  } else if (state == "pending" || state == "inactive") {
    put_waiting(row, c.reserved);
  }
}

void put_evictions(JsonObject& row, const Json& workload, const WorkloadConditions& c) {
  std::int64_t count = 0;
  for (const Json& each : array_at(workload, {"status", "schedulingStats", "evictions"}))
    count += std::clamp<std::int64_t>(int_at(each, {"count"}), 0, 1'000'000);
  row["evictions"] = count;
  if (!is_true(c.evicted)) return;
  JsonObject last;
  put_int(last, "at", millis_at(*c.evicted, {"lastTransitionTime"}));
  put_why(last, c.evicted);
  row["lastEviction"] = std::move(last);
}

void put_owner(JsonObject& row, const Json& workload) {
  const JsonArray& owners = array_at(workload, {"metadata", "ownerReferences"});
  if (owners.empty()) return;
  const Json* controller = api::controller_of(workload);
  const Json& owner = controller == nullptr ? owners.front() : *controller;
  const std::string_view version = string_at(owner, {"apiVersion"});
  const auto slash = version.find('/');
  row["owner"] = JsonObject{{"kind", string_at(owner, {"kind"})},
                            {"name", string_at(owner, {"name"})},
                            {"group", slash == std::string_view::npos ? std::string_view() : version.substr(0, slash)}};
}

std::int64_t count_of(const Json& pod_set) {
  return std::clamp<std::int64_t>(int_at(pod_set, {"count"}, 1), 0, 1'000'000'000);
}

// What it uses; when it holds nothing, what it asks for.
Amounts requests_of(const Json& workload) {
  Amounts sum;
  for (const Json& each : array_at(workload, {"status", "admission", "podSetAssignments"}))
    add_amounts(sum, object_at(each, {"resourceUsage"}));
  if (!sum.empty()) return sum;
  for (const Json& each : array_at(workload, {"status", "resourceRequests"}))
    add_amounts(sum, object_at(each, {"resources"}));
  if (!sum.empty()) return sum;
  for (const Json& pod_set : array_at(workload, {"spec", "podSets"})) {
    const Json* spec = find_path(pod_set, {"template", "spec"});
    if (spec == nullptr) continue;
    // As the engine counts it: limits stand for requests that are not there.
    const Json requests = api::encode_resource_list(api::pod_requests(api::adjust_pod_spec(*spec, {}, nullptr)));
    if (requests.is_object()) add_amounts(sum, requests.get_object(), count_of(pod_set));
  }
  return sum;
}

void put_assignment(JsonObject& row, const Json& workload) {
  std::set<std::string_view> flavors;
  bool topology = false;
  for (const Json& each : array_at(workload, {"status", "admission", "podSetAssignments"})) {
    for (const auto& [resource, flavor] : object_at(each, {"flavors"})) {
      if (flavor.is_string()) flavors.insert(view(flavor.get_string()));
    }
    topology = topology || find(each, "topologyAssignment") != nullptr;
  }
  if (!flavors.empty()) row["flavors"] = JsonArray(flavors.begin(), flavors.end());
  if (topology) row["topology"] = true;
}

void put_checks(JsonObject& row, const Json& workload) {
  JsonArray checks;
  for (const Json& each : array_at(workload, {"status", "admissionChecks"})) {
    JsonObject check;
    put_text(check, "name", string_at(each, {"name"}));
    put_text(check, "state", string_at(each, {"state"}));
    put_text(check, "message", string_at(each, {"message"}));
    checks.push_back(std::move(check));
  }
  if (!checks.empty()) row["checks"] = std::move(checks);
}

void put_times(JsonObject& row, std::string_view state, const WorkloadConditions& c) {
  const auto since = [](const Json* condition) -> std::optional<std::int64_t> {
    if (!is_true(condition)) return std::nullopt;
    return millis_at(*condition, {"lastTransitionTime"});
  };
  put_int(row, "reserved", since(c.reserved));
  put_int(row, "admitted", since(c.admitted));
  put_int(row, "finished", since(c.finished));
  if (state != "pending" && state != "evicted") return;
  const auto evicted = since(c.evicted);
  row["waitsSince"] = evicted ? Json(*evicted) : row["created"];
}

}  // namespace

std::optional<Row> workload_row(const Json& workload) {
  auto start = start_row(workload);
  if (!start) return std::nullopt;
  JsonObject& row = start->fields;
  const WorkloadConditions conditions(workload);
  const std::string_view state = state_of(workload, conditions);
  row["uid"] = string_at(workload, {"metadata", "uid"});
  row["queue"] = string_at(workload, {"spec", "queueName"});
  put_text(row, "cq", string_at(workload, {"status", "admission", "clusterQueue"}));
  row["state"] = state;
  put_reason(row, state, conditions);
  row["priority"] = int_at(workload, {"spec", "priority"});
  put_text(row, "pc", string_at(workload, {"spec", "priorityClassRef", "name"}));
  put_times(row, state, conditions);
  put_evictions(row, workload, conditions);
  put_owner(row, workload);
  std::int64_t pods = 0;
  for (const Json& pod_set : array_at(workload, {"spec", "podSets"})) pods += count_of(pod_set);
  row["pods"] = pods;
  row["requests"] = to_json(requests_of(workload));
  put_assignment(row, workload);
  put_checks(row, workload);
  return finish_row(std::move(*start));
}

}  // namespace berth::console
