// What a prediction says: as a sentence, and as a document.
#include <string>
#include <utility>

#include "base/json.h"
#include "base/time.h"
#include "engine/explain/predict.h"

namespace berth::engine {

std::string summary(const Prediction& p) {
  if (!p.found) return "it does not exist, or it has finished";
  if (p.admitted) return "it has started at " + format_time(*p.admitted);
  if (!p.never.empty()) return "it never starts: " + p.never;
  if (p.p90 && p.p10 == p.p90) return "it starts at " + format_time(*p.p90);
  if (p.p50)
    return "it starts by " + format_time(*p.p50) + " in half of the futures, " +
           (p.p90     ? "by " + format_time(*p.p90) + " in nine of ten"
            : p.after ? "after " + format_time(*p.after) + " in some of the others"
                      : "later or never in the others");
  if (p.unknown_count > 0) {
    std::string names;
    for (const auto& key : p.unknown) names += (names.empty() ? "" : ", ") + key;
    if (p.unknown_count > p.unknown.size())
      names += " and " + std::to_string(p.unknown_count - p.unknown.size()) + " more";
    return "it cannot be said: nothing is known of how long these run: " + names +
           ". They have no spec.maximumExecutionTimeSeconds, and no similar workload has finished";
  }
  if (p.draws == 0) return "it was not predicted: " + p.limit;
  if (p.after) return "it starts after " + format_time(*p.after) + ", where what was played ends: " + p.limit;
  if (p.started > 0) return "it starts in " + std::to_string(p.started) + " of " + std::to_string(p.draws) + " futures";
  return p.limit.empty() ? "it does not start by the end of other workloads: berth explain says what it lacks"
                         : "it does not start within what was played: " + p.limit;
}

void hide_other_namespaces(Prediction& p) {
  for (auto& key : p.unknown) {
    if (!key.starts_with(p.ns + "/")) key = "(another namespace)";
  }
}

Json to_json(const Prediction& p) {
  JsonObject out{{"namespace", p.ns}, {"name", p.name}, {"summary", summary(p)}};
  if (!p.cluster_queue.empty()) out["clusterQueue"] = p.cluster_queue;
  if (p.admitted) out["admitted"] = format_time(*p.admitted);
  if (!p.waits()) return out;
  out["at"] = format_time(p.at);
  if (!p.never.empty()) {
    out["never"] = p.never;
    return out;
  }
  out["futures"] = p.draws;
  out["started"] = p.started;
  JsonObject start;
  for (const auto& [name, time] : {std::pair("p10", p.p10), std::pair("p50", p.p50), std::pair("p90", p.p90)}) {
    if (time) start[name] = format_time(*time);
  }
  if (p.after) start["after"] = format_time(*p.after);
  if (!start.empty()) out["start"] = std::move(start);
  JsonArray rests_on, unknown;
  for (const auto& basis : p.rests_on)
    rests_on.emplace_back(JsonObject{{"basis", basis.what}, {"workloads", basis.workloads}});
  if (!rests_on.empty()) out["restsOn"] = std::move(rests_on);
  for (const auto& key : p.unknown) unknown.emplace_back(key);
  if (!unknown.empty()) {
    out["unknown"] = std::move(unknown);
    out["unknownCount"] = p.unknown_count;
  }
  if (!p.limit.empty()) out["limit"] = p.limit;
  return out;
}

}  // namespace berth::engine
