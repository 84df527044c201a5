#include "cli/queues/pod_waits.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "api/core/pod_phase.h"
#include "api/object_condition.h"
#include "cli/queues/words.h"

namespace berth::cli::queues {
namespace {

constexpr std::size_t kWarnings = 5;  // each costs a request
constexpr std::size_t kNamed = 3;     // pods in a line

using Why = std::pair<std::string, std::string>;

Why of_gates(const JsonArray& gates) {
  std::string ours, others;
  for (const Json& gate : gates) {
    const std::string_view name = string_at(gate, {"name"});
    std::string& list =
        name.starts_with("kueue.x-k8s.io/") || name.starts_with("scheduling.volcano.sh/") ? ours : others;
    list += (list.empty() ? "" : ", ") + printable(name);
  }
  if (others.empty()) return {"SchedulingGated", "Berth has not removed its gate " + ours + " yet"};
  return {"SchedulingGated", "another controller must remove its gate " + others};
}

// What a container waits for: the first one that says more than that it is being created.
Why of_containers(const Json& pod) {
  Why creating;
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Json& status : array_at(pod, {"status", list})) {
      const Json* waiting = find_path(status, {"state", "waiting"});
      if (waiting == nullptr) continue;
      Why why{string_at(*waiting, {"reason"}), string_at(*waiting, {"message"})};
      if (why.first != "ContainerCreating" && why.first != "PodInitializing" && !why.first.empty()) return why;
      if (creating.first.empty()) creating = std::move(why);
    }
  }
  return creating.first.empty() ? Why{"ContainerCreating", ""} : creating;
}

bool waits(const Json& pod) {
  if (api::pod_ended(pod)) return false;
  if (string_at(pod, {"status", "phase"}) != "Running") return true;
  return std::ranges::any_of(array_at(pod, {"status", "containerStatuses"}),
                             [](const Json& status) { return find_path(status, {"state", "waiting"}) != nullptr; });
}

Why of_pod(const Json& pod, std::size_t& asked, const NewestWarning& warning) {
  if (const auto& gates = array_at(pod, {"spec", "schedulingGates"}); !gates.empty()) return of_gates(gates);
  if (string_at(pod, {"spec", "nodeName"}).empty()) {
    const Json* scheduled = api::object_condition(pod, "PodScheduled");
    std::string message(scheduled == nullptr ? "" : string_at(*scheduled, {"message"}));
    if (!message.empty()) return {std::string(string_at(*scheduled, {"reason"})), std::move(message)};
    if (asked++ < kWarnings) message = warning(pod);
    return {"NotScheduled", message.empty() ? "no scheduler has looked at it yet" : message};
  }
  Why why = of_containers(pod);
  if (why.second.empty() && asked++ < kWarnings) why.second = warning(pod);
  return why;
}

}  // namespace

std::vector<PodWait> waits_of(const JsonArray& pods, const NewestWarning& warning) {
  std::map<Why, std::vector<std::string>> by_why;
  std::size_t asked = 0;
  for (const Json& pod : pods) {
    if (waits(pod)) by_why[of_pod(pod, asked, warning)].emplace_back(string_at(pod, {"metadata", "name"}));
  }
  std::vector<PodWait> out;
  for (auto& [why, names] : by_why) {
    std::ranges::sort(names);
    out.push_back({why.first, why.second, std::move(names)});
  }
  std::ranges::stable_sort(out, [](const PodWait& a, const PodWait& b) { return a.pods.size() > b.pods.size(); });
  return out;
}

std::string pod_wait_text(const Json& wait) {
  const JsonArray& pods = array_at(wait, {"pods"});
  std::string out =
      std::to_string(pods.size()) + (pods.size() == 1 ? " pod waits, " : " pods wait, ") + at(wait, "reason");
  if (!at(wait, "message").empty()) out += ": " + at(wait, "message");
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, pods.size()); ++i)
    names += (i == 0 ? "" : ", ") + printable(view(pods[i].as_string()));
  if (pods.size() > kNamed) names += " and " + std::to_string(pods.size() - kNamed) + " more";
  return out + " (" + names + ")";
}

JsonArray to_json(const std::vector<PodWait>& waits) {
  JsonArray out;
  for (const PodWait& each : waits) {
    JsonArray names;
    for (const auto& name : each.pods) names.emplace_back(name);
    out.emplace_back(JsonObject{{"reason", each.reason}, {"message", each.message}, {"pods", std::move(names)}});
  }
  return out;
}

}  // namespace berth::cli::queues
