#include "cli/queues/watch_facts.h"

#include <algorithm>
#include <limits>

#include "api/kueue/names.h"
#include "api/kueue/slices.h"
#include "api/kueue/types.h"
#include "api/meta.h"
#include "api/object_condition.h"
#include "cli/queues/workload_facts.h"
#include "cli/table.h"

namespace berth::cli::queues {
namespace {

namespace kueue = api::kueue;

constexpr std::size_t kShownDomains = 4;

std::string reason_and_message(const Json& condition) {
  const std::string reason = printable(string_at(condition, {"reason"}));
  const std::string message = printable(string_at(condition, {"message"}));
  return message.empty() ? reason : reason + ": " + message;
}

// "4 pods on gpu=h100, cpu=default"
std::string flavors_text(const kueue::PodSetAssignment& given) {
  std::string out = std::to_string(given.count) + (given.count == 1 ? " pod" : " pods");
  std::string flavors;
  for (const auto& [resource, flavor] : given.flavors)
    flavors += (flavors.empty() ? "" : ", ") + resource + "=" + flavor;
  return flavors.empty() ? out : out + " with " + flavors;
}

// "on rack-1/node-2 (3), rack-1/node-3 (1)"
std::string places_text(const kueue::TopologyAssignment& places) {
  std::string out;
  for (std::size_t i = 0; i < std::min(kShownDomains, places.domains.size()); ++i) {
    const auto& domain = places.domains[i];
    std::string name;
    for (const auto& value : domain.values) name += (name.empty() ? "" : "/") + value;
    out += (out.empty() ? " on " : ", ") + name + " (" + std::to_string(domain.count) + ")";
  }
  if (places.domains.size() > kShownDomains)
    out += " and " + std::to_string(places.domains.size() - kShownDomains) + " more";
  return out;
}

std::string admission_text(const Json& workload) {
  const auto decoded = kueue::decode_workload(workload);
  if (!decoded || !decoded->status.admission) return "";
  std::string out = "ClusterQueue " + decoded->status.admission->cluster_queue;
  for (const auto& given : decoded->status.admission->pod_set_assignments) {
    out += "; " + given.name + ": " + flavors_text(given);
    if (given.topology_assignment) out += places_text(*given.topology_assignment);
  }
  return out;
}

std::string queue_text(const Json& workload) {
  return "workload " + printable(string_at(workload, {"metadata", "name"})) + " in LocalQueue " +
         printable(string_at(workload, {"spec", "queueName"}));
}

}  // namespace

std::optional<Ended> end_of(const Json& workload) {
  const Json* finished = api::object_condition(workload, kueue::kFinished);
  if (finished == nullptr || string_at(*finished, {"status"}) != "True") return std::nullopt;
  return string_at(*finished, {"reason"}) == "Succeeded" ? Ended::kSucceeded : Ended::kFailed;
}

WatchFacts facts_of(const Json& workload, std::optional<std::int64_t> position) {
  const WorkloadState state = state_of(workload);
  WatchFacts out{{"Queue", queue_text(workload)}};
  if (state == WorkloadState::kPending && position)
    out.push_back({"Position", std::to_string(*position) + " in the LocalQueue"});
  const Json* evicted = api::object_condition(workload, kueue::kEvicted);
  if (evicted != nullptr && string_at(*evicted, {"status"}) == "True")
    out.push_back({"Eviction", reason_and_message(*evicted)});
  const Json* active = find_path(workload, {"spec", "active"});
  if (active != nullptr && active->is_bool() && !active->get_bool())
    out.push_back({"Wait", "it is deactivated: spec.active is false"});
  if (state == WorkloadState::kFinished) {
    out.push_back({"End", reason_and_message(*api::object_condition(workload, kueue::kFinished))});
    return out;
  }
  const std::string admission = admission_text(workload);
  if (state != WorkloadState::kPending && !admission.empty())
    out.push_back(
        {"Admission", (state == WorkloadState::kAdmitted ? "admitted: " : "quota is reserved: ") + admission});
  if (out.back().topic == "Wait") return out;
  if (std::string why = why_it_waits(workload); !why.empty()) out.push_back({"Wait", std::move(why)});
  return out;
}

namespace {

// An elastic job that shrank keeps the count of its admission.
std::int64_t size_of(const Json& workload, std::string_view pod_set) {
  for (const Json& each : array_at(workload, {"spec", "podSets"})) {
    if (string_at(each, {"name"}, "main") == pod_set) return int_at(each, {"count"}, 1);
  }
  return std::numeric_limits<std::int64_t>::max();
}

}  // namespace

WatchFact pods_fact(const Json& workload, const JsonArray& pods, const std::vector<std::string>& waits) {
  if (const auto cluster = string_at(workload, {"status", "clusterName"}); !cluster.empty())
    return {"Pods", "they run on the worker cluster " + std::string(cluster)};
  std::int64_t all = 0;
  for (const Json& given : array_at(workload, {"status", "admission", "podSetAssignments"}))
    all += std::min(int_at(given, {"count"}), size_of(workload, string_at(given, {"name"})));
  const auto running =
      std::ranges::count_if(pods, [](const Json& pod) { return string_at(pod, {"status", "phase"}) == "Running"; });
  std::string text = std::to_string(running) + " of " + std::to_string(all) + (all == 1 ? " pod runs" : " pods run");
  for (const std::string& wait : waits) text += "; " + wait;
  return {"Pods", std::move(text)};
}

Json main_workload(const JsonArray& workloads) {
  const auto rank = [](const Json& workload) {
    const Json* end = api::object_condition(workload, kueue::kFinished);
    if (end_of(workload)) return string_at(*end, {"reason"}) == kueue::kSliceReplaced ? 0 : 1;
    return state_of(workload) == WorkloadState::kPending ? 2 : 3;
  };
  const Json* found = nullptr;
  for (const Json& workload : workloads) {
    if (found == nullptr || rank(workload) >= rank(*found)) found = &workload;
  }
  return found == nullptr ? Json() : *found;
}

std::optional<WatchFact> growth_fact(const Json& current, const JsonArray& workloads) {
  const std::string key = api::object_key(current);
  for (const Json& workload : workloads) {
    const auto link = string_at(workload, {"metadata", "annotations", kueue::kSliceReplacementFor});
    if (link != key || state_of(workload) != WorkloadState::kPending) continue;
    std::int64_t pods = 0;
    for (const Json& each : array_at(workload, {"spec", "podSets"})) pods += int_at(each, {"count"}, 1);
    const std::string why = why_it_waits(workload);
    return WatchFact{"Growth",
                     "to " + std::to_string(pods) + (pods == 1 ? " pod" : " pods") + (why.empty() ? "" : ": " + why)};
  }
  return std::nullopt;
}

WatchFacts changed(const WatchFacts& before, const WatchFacts& now) {
  WatchFacts out;
  for (const WatchFact& fact : now) {
    if (std::ranges::find(before, fact) == before.end()) out.push_back(fact);
  }
  return out;
}

}  // namespace berth::cli::queues
