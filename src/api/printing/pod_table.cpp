#include "api/printing/pod_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "api/core/pod_phase.h"
#include "api/object_condition.h"
#include "api/printing/table.h"

namespace berth::api {
namespace {

struct Row {
  std::string reason;
  std::int64_t ready = 0, total = 0, restarts = 0;
  std::string last_restart;  // RFC 3339; texts with whole seconds sort by time
  bool initializing = false;
};

// The reason, for example "Error"; without one "Signal:9" or "ExitCode:1".
std::string end_reason(const Json& terminated) {
  std::string_view reason = string_at(terminated, {"reason"});
  if (!reason.empty()) return std::string(reason);
  std::int64_t signal = int_at(terminated, {"signal"});
  return signal != 0 ? fmt::format("Signal:{}", signal) : fmt::format("ExitCode:{}", int_at(terminated, {"exitCode"}));
}

void note_restart(Row& row, const Json& status) {
  std::string_view finished = string_at(status, {"lastState", "terminated", "finishedAt"});
  if (finished > row.last_restart) row.last_restart = finished;
}

std::unordered_set<std::string_view> sidecars_of(const JsonArray& init_containers) {
  std::unordered_set<std::string_view> names;
  for (const auto& container : init_containers) {
    if (string_at(container, {"restartPolicy"}) == "Always") names.insert(string_at(container, {"name"}));
  }
  return names;
}

// Reads init containers in order; the first one that is not done determines the pod's state. Returns the restarts of
// sidecars.
std::int64_t read_init_containers(const Json& pod, Row& row) {
  std::int64_t sidecar_restarts = 0;
  const JsonArray& all = array_at(pod, {"spec", "initContainers"});
  const auto sidecars = sidecars_of(all);
  const JsonArray& statuses = array_at(pod, {"status", "initContainerStatuses"});
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const Json& status = statuses[i];
    const bool sidecar = sidecars.contains(string_at(status, {"name"}));
    row.restarts += int_at(status, {"restartCount"});
    note_restart(row, status);
    if (sidecar) sidecar_restarts += int_at(status, {"restartCount"});
    const Json* terminated = find_path(status, {"state", "terminated"});
    if (terminated != nullptr && int_at(*terminated, {"exitCode"}) == 0) continue;
    if (sidecar && bool_at(status, {"started"})) {
      row.ready += bool_at(status, {"ready"}) ? 1 : 0;
      continue;
    }
    std::string_view waiting = string_at(status, {"state", "waiting", "reason"});
    if (terminated != nullptr) {
      row.reason = "Init:" + end_reason(*terminated);
    } else if (!waiting.empty() && waiting != "PodInitializing") {
      row.reason = fmt::format("Init:{}", waiting);
    } else {
      row.reason = fmt::format("Init:{}/{}", i, all.size());
    }
    row.initializing = true;
    break;
  }
  return sidecar_restarts;
}

void read_containers(const Json& pod, Row& row) {
  bool has_running = false;
  const JsonArray& statuses = array_at(pod, {"status", "containerStatuses"});
  for (std::size_t i = statuses.size(); i-- > 0;) {
    const Json& status = statuses[i];
    row.restarts += int_at(status, {"restartCount"});
    note_restart(row, status);
    const Json* terminated = find_path(status, {"state", "terminated"});
    std::string_view waiting = string_at(status, {"state", "waiting", "reason"});
    if (!waiting.empty()) {
      row.reason = waiting;
    } else if (terminated != nullptr) {
      row.reason = end_reason(*terminated);
    } else if (bool_at(status, {"ready"}) && find_path(status, {"state", "running"}) != nullptr) {
      has_running = true;
      ++row.ready;
    }
  }
  if (row.reason == "Completed" && has_running)
    row.reason = api::object_condition_is_true(pod, "Ready") ? "Running" : "NotReady";
}

Row read(const Json& pod) {
  Row row;
  row.total = static_cast<std::int64_t>(array_at(pod, {"spec", "containers"}).size());
  for (const auto& container : array_at(pod, {"spec", "initContainers"})) {
    row.total += string_at(container, {"restartPolicy"}) == "Always" ? 1 : 0;
  }
  row.reason = string_at(pod, {"status", "reason"}, string_at(pod, {"status", "phase"}));
  const Json* scheduled = api::object_condition(pod, "PodScheduled");
  if (scheduled != nullptr && string_at(*scheduled, {"reason"}) == "SchedulingGated") row.reason = "SchedulingGated";
  std::int64_t sidecar_restarts = read_init_containers(pod, row);
  if (!row.initializing || api::object_condition_is_true(pod, "Initialized")) {
    row.restarts = sidecar_restarts;
    read_containers(pod, row);
  }
  std::string_view phase = string_at(pod, {"status", "phase"});
  if (find_path(pod, {"metadata", "deletionTimestamp"}) != nullptr) {
    if (string_at(pod, {"status", "reason"}) == "NodeLost") {
      row.reason = "Unknown";
    } else if (!is_ended_phase(phase)) {
      row.reason = "Terminating";
    }
  }
  return row;
}

std::string restarts_cell(const Row& row, Time now) {
  if (row.restarts == 0 || row.last_restart.empty()) return fmt::format("{}", row.restarts);
  return fmt::format("{} ({} ago)", row.restarts, age_cell(row.last_restart, now));
}

std::string gates_cell(const Json& pod) {
  const JsonArray& gates = array_at(pod, {"spec", "readinessGates"});
  if (gates.empty()) return "<none>";
  std::unordered_map<std::string_view, bool> conditions;  // the first of a type counts
  for (const Json& condition : array_at(pod, {"status", "conditions"}))
    conditions.emplace(string_at(condition, {"type"}), string_at(condition, {"status"}) == "True");
  auto met = std::count_if(gates.begin(), gates.end(), [&](const Json& gate) {
    const auto found = conditions.find(string_at(gate, {"conditionType"}));
    return found != conditions.end() && found->second;
  });
  return fmt::format("{}/{}", met, gates.size());
}

Json or_none(std::string_view text) { return Json(text.empty() ? std::string_view("<none>") : text); }

}  // namespace

std::vector<PrinterColumn> pod_columns() {
  return {text_column("Ready", "Ready containers of all containers."),
          text_column("Status", "State of the pod in one word."),
          text_column("Restarts", "How often containers were started again."),
          text_column("Age", "Time since the creation."),
          text_column("IP", "Address of the pod.", 1),
          text_column("Node", "Node of the pod.", 1),
          text_column("Nominated Node", "Node on which room is being made.", 1),
          text_column("Readiness Gates", "Extra conditions that are met.", 1)};
}

JsonArray pod_cells(const Json& pod, Time now) {
  Row row = read(pod);
  std::string_view ip = string_at(pod, {"status", "podIP"});
  const JsonArray& ips = array_at(pod, {"status", "podIPs"});
  if (!ips.empty()) ip = string_at(ips[0], {"ip"});
  return {Json(fmt::format("{}/{}", row.ready, row.total)),
          Json(row.reason),
          Json(restarts_cell(row, now)),
          Json(age_of(pod, now)),
          or_none(ip),
          or_none(string_at(pod, {"spec", "nodeName"})),
          or_none(string_at(pod, {"status", "nominatedNodeName"})),
          Json(gates_cell(pod))};
}

}  // namespace berth::api
