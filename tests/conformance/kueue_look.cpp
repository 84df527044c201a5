#include "conformance/kueue_look.h"

#include <map>
#include <utility>

#include "conformance/kueue_events.h"
#include "conformance/kueue_shown.h"

namespace berth::conformance {
namespace {

constexpr std::string_view kQueueVersion = "kueue.x-k8s.io/v1beta2";
constexpr std::string_view kRequestVersion = "autoscaling.x-k8s.io/v1";

Json with_name(std::string_view name) { return JsonObject{{"metadata", JsonObject{{"name", name}}}}; }

// Kueue writes metadata into templates that have none.
void forget_empty_metadata(Json& workload) {
  if (find_path(workload, {"spec", "podSets"}) == nullptr) return;
  for (Json& pod_set : ensure_path(workload, {"spec", "podSets"}).as_array()) {
    const Json* metadata = find_path(pod_set, {"template", "metadata"});
    if (metadata != nullptr && metadata->is_object() && metadata->get_object().empty())
      ensure_path(pod_set, {"template"}).as_object().erase("metadata");
  }
}

// A Job controller that sees the job after it was resumed never adds the condition Suspended. Accept that.
void forgive_a_missed_suspension(Json& shown, const Json& expected) {
  const JsonArray& wanted = array_at(expected, {"conditions"});
  Json* conditions = shown.as_object().if_contains("conditions");
  if (conditions == nullptr || wanted.empty() || wanted[0] != "Suspended=False") return;
  JsonArray& present = conditions->as_array();
  if (present.empty() || !view(present[0].get_string()).starts_with("Suspended="))
    present.insert(present.begin(), wanted[0]);
}

}  // namespace

std::vector<Difference> Look::look(const Json& step, std::set<std::string>& seen_events) {
  stage_.bind_workloads();
  stage_.name_pods(step);
  Json expected = JsonObject(), actual = JsonObject();
  const auto part = [&](std::string_view key, Json wanted, Json is) {
    expected.as_object()[key] = std::move(wanted);
    actual.as_object()[key] = std::move(is);
  };
  part("workloads", wanted_workloads(step), workloads(step));
  part("jobs", wanted_jobs(step), jobs(step));
  for (const auto& [section, kind] :
       {std::pair("clusterQueues", "ClusterQueue"), std::pair("localQueues", "LocalQueue")}) {
    const Json& wanted = wanted_queues(step, section);
    part(section, wanted, queues(wanted, kind));
  }
  if (find(step, "pods") != nullptr) part("pods", wanted_pods(step), pods(step));
  if (find(step, "objects") != nullptr) part("objects", wanted_objects(step), objects(step));
  if (find(step, "provisioningRequests") != nullptr) {
    part("provisioningRequests", member(step, "provisioningRequests"),
         shown_by_name(kRequestVersion, "ProvisioningRequest", step, "provisioningRequests"));
    part("podTemplates", member(step, "podTemplates"), shown_by_name("v1", "PodTemplate", step, "podTemplates"));
  }
  EventSets events = events_of(stage_, left_out_, step, seen_events);
  part("newEvents", std::move(events.recorded), std::move(events.actual));
  return compare(expected, actual, stage_.bindings());
}

std::string Look::name_of(const Json& expected) {
  return stage_.bindings().substitute(string_at(expected, {"metadata", "name"}));
}

Json Look::wanted_workloads(const Json& step) {
  JsonArray wanted;
  for (Json workload : array_at(step, {"workloads"})) {
    if (left_out_.workload(string_at(workload, {"metadata", "name"}))) continue;
    sort_conditions(workload);
    forget_durations(workload);
    forget_empty_metadata(workload);
    wanted.push_back(std::move(workload));
  }
  return wanted;
}

// A new workload is shown completely, other workloads in part.
Json Look::shown_workload(const Json& workload, const Json& expected) {
  const Json& wanted = member(expected, "spec");
  const bool whole = whole_ && find(wanted, "podSets") != nullptr;
  Json shown = JsonObject{{"metadata", restricted(member(workload, "metadata"), member(expected, "metadata"))},
                          {"spec", whole ? member(workload, "spec") : restricted(member(workload, "spec"), wanted)},
                          {"status", member(workload, "status")}};
  if (whole) shown.as_object()["metadata"] = own_metadata(workload);
  sort_owners(shown.as_object()["metadata"]);
  if (wanted.is_null()) shown.as_object().erase("spec");
  sort_conditions(shown);
  forget_durations(shown);
  forget_empty_metadata(shown);
  return shown;
}

// In the recording's order; unexpected workloads follow.
Json Look::workloads(const Json& step) {
  std::map<std::string, Json> present;
  for (auto& workload : stage_.workloads())
    present.emplace(string_at(workload, {"metadata", "name"}), std::move(workload));
  JsonArray result;
  for (const auto& expected : array_at(step, {"workloads"})) {
    if (left_out_.workload(string_at(expected, {"metadata", "name"}))) continue;
    const auto it = present.find(name_of(expected));
    if (it == present.end()) continue;
    result.push_back(shown_workload(it->second, expected));
    present.erase(it);
  }
  for (auto& [name, workload] : present) result.push_back(with_name("unexpected " + stage_.reported(name)));
  return result;
}

Json Look::wanted_jobs(const Json& step) {
  JsonArray wanted;
  for (const Json& job : array_at(step, {"jobs"})) {
    if (!left_out_.named("Job", string_at(job, {"name"}))) wanted.push_back(job);
  }
  return wanted;
}

Json Look::jobs(const Json& step) {
  JsonArray result;
  std::map<std::string, Json> present;
  for (auto& job : stage_.list("batch/v1", "Job"))
    present.emplace(string_at(job, {"metadata", "name"}), std::move(job));
  for (const auto& expected : array_at(step, {"jobs"})) {
    const auto it = present.find(std::string(string_at(expected, {"name"})));
    if (it == present.end() || left_out_.named("Job", it->first)) continue;
    result.push_back(shown_job(it->second, expected));
    if (whole_ || stage_.site().real_time()) forgive_a_missed_suspension(result.back(), expected);
    present.erase(it);
  }
  for (const auto& [name, job] : present) result.push_back(JsonObject{{"name", "unexpected " + name}});
  return result;
}

const Json& Look::wanted_queues(const Json& step, std::string_view section) {
  if (!whole_ || find(step, section) == nullptr) return member(step, section);
  Json& last = last_queues_[std::string(section) + "/" + stage_.ns()];
  if (last.is_null()) last = JsonObject();
  for (const auto& [name, status] : object_at(step, {section})) last.as_object()[name] = counted(name, status);
  return last;
}

// Without the counts if they include left-out objects.
Json Look::counted(std::string_view queue, const Json& status) const {
  return left_out_.counts_of(queue) ? restricted(status, JsonObject{{"conditions", nullptr}}) : status;
}

Json Look::queues(const Json& expected, std::string_view kind) {
  if (!expected.is_object()) return expected;
  Json result = JsonObject();
  for (const auto& [name, status] : expected.as_object()) {
    const auto queue = stage_.site().get(kQueueVersion, kind, stage_.ns(), name);
    result.as_object()[name] = queue ? counted(name, member(*queue, "status")) : Json();
  }
  return result;
}

// By job. Placeholders are replaced first, so that both sides are sorted the same way.
Json Look::wanted_pods(const Json& step) {
  Json result = JsonObject();
  for (const auto& [job, recorded] : object_at(step, {"pods"})) {
    if (!left_out_.name(job)) result.as_object()[job] = recorded_pods(stage_.substituted(recorded).as_array(), whole_);
  }
  return result;
}

Json Look::pods(const Json& step) {
  Json result = JsonObject();
  for (const auto& [job, recorded] : object_at(step, {"pods"})) {
    if (!left_out_.name(job)) result.as_object()[job] = shown_pods(stage_.pods_of(job), whole_);
  }
  return result;
}

Json Look::wanted_objects(const Json& step) {
  JsonArray wanted;
  for (Json object : array_at(step, {"objects"})) {
    if (left_out_.object(object)) continue;
    if (Json* spec = object.as_object().if_contains("spec")) *spec = without_empty_objects(*spec);
    wanted.push_back(std::move(object));
  }
  return wanted;
}

Json Look::objects(const Json& step) {
  JsonArray result;
  for (const Json& expected : array_at(step, {"objects"})) {
    if (left_out_.object(expected)) continue;
    const auto object = stage_.site().get(string_at(expected, {"apiVersion"}), string_at(expected, {"kind"}),
                                          stage_.ns(), name_of(expected));
    if (object) result.push_back(shown_owner(*object, expected));
  }
  return result;
}

// The objects of a kind in the recording's order, with the members that it shows; unexpected objects follow.
Json Look::shown_by_name(std::string_view api_version, std::string_view kind, const Json& step,
                         std::string_view section) {
  std::map<std::string, Json> present;
  for (auto& object : stage_.list(api_version, kind))
    present.emplace(string_at(object, {"metadata", "name"}), std::move(object));
  JsonArray result;
  for (const auto& expected : array_at(step, {section})) {
    const auto it = present.find(name_of(expected));
    if (it == present.end()) {
      result.push_back(nullptr);
      continue;
    }
    result.push_back(shown_object(it->second, expected));
    present.erase(it);
  }
  for (auto& [name, object] : present) result.push_back(JsonObject{{"unexpected", name}});
  return result;
}

}  // namespace berth::conformance
