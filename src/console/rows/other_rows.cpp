#include "console/rows/other_rows.h"

#include <utility>

#include "console/rows/fields.h"

namespace berth::console {
namespace {

// The state that a ProvisioningRequest's conditions say, the last one first.
constexpr std::pair<std::string_view, std::string_view> kProvisioningStates[] = {{"Failed", "failed"},
                                                                                 {"CapacityRevoked", "capacityRevoked"},
                                                                                 {"BookingExpired", "bookingExpired"},
                                                                                 {"Provisioned", "provisioned"},
                                                                                 {"Accepted", "accepted"}};

void put_amounts(JsonObject& row, std::string_view field, const JsonObject& quantities) {
  if (quantities.empty()) return;
  Amounts amounts;
  add_amounts(amounts, quantities);
  row[field] = to_json(amounts);
}

void put_status_count(JsonObject& row, const Json& object, std::string_view field) {
  row[field] = int_at(object, {"status", field});
}

}  // namespace

std::optional<Row> flavor_row(const Json& flavor) {
  auto start = start_row(flavor);
  if (!start) return std::nullopt;
  JsonObject labels;
  for (const auto& [label, value] : object_at(flavor, {"spec", "nodeLabels"})) {
    if (value.is_string()) labels[label] = value;
  }
  JsonArray taints;
  for (const Json& taint : array_at(flavor, {"spec", "nodeTaints"})) taints.emplace_back(taint_text(taint));
  start->fields["labels"] = std::move(labels);
  start->fields["taints"] = std::move(taints);
  start->fields["tolerations"] = array_at(flavor, {"spec", "tolerations"}).size();
  put_text(start->fields, "topology", string_at(flavor, {"spec", "topologyName"}));
  return finish_row(std::move(*start));
}

std::optional<Row> topology_row(const Json& topology) {
  auto start = start_row(topology);
  if (!start) return std::nullopt;
  JsonArray levels;
  for (const Json& level : array_at(topology, {"spec", "levels"})) levels.emplace_back(string_at(level, {"nodeLabel"}));
  start->fields["levels"] = std::move(levels);
  return finish_row(std::move(*start));
}

std::optional<Row> check_row(const Json& check) {
  auto start = start_row(check);
  if (!start) return std::nullopt;
  JsonObject& row = start->fields;
  row["controller"] = string_at(check, {"spec", "controllerName"});
  const std::string_view kind = string_at(check, {"spec", "parameters", "kind"});
  if (!kind.empty())
    row["parameters"] = std::string(kind) + "/" + std::string(string_at(check, {"spec", "parameters", "name"}));
  const Json* active = condition_of(check, "Active");
  row["active"] = is_true(active);
  if (!is_true(active)) put_why(row, active);
  return finish_row(std::move(*start));
}

std::optional<Row> provisioning_request_row(const Json& request) {
  auto start = start_row(request);
  if (!start) return std::nullopt;
  JsonObject& row = start->fields;
  row["class"] = string_at(request, {"spec", "provisioningClassName"});
  row["state"] = "pending";
  for (const auto& [condition, state] : kProvisioningStates) {
    const Json* found = condition_of(request, condition);
    if (!is_true(found)) continue;
    row["state"] = state;
    put_text(row, "message", string_at(*found, {"message"}));
    break;
  }
  for (const Json& owner : array_at(request, {"metadata", "ownerReferences"})) {
    if (string_at(owner, {"kind"}) == "Workload") put_text(row, "workload", string_at(owner, {"name"}));
  }
  return finish_row(std::move(*start));
}

std::optional<Row> volcano_queue_row(const Json& queue) {
  auto start = start_row(queue);
  if (!start) return std::nullopt;
  JsonObject& row = start->fields;
  put_text(row, "parent", string_at(queue, {"spec", "parent"}));
  row["state"] = string_at(queue, {"status", "state"});
  put_int(row, "weight", optional_int_at(queue, {"spec", "weight"}));
  put_int(row, "priority", optional_int_at(queue, {"spec", "priority"}));
  const Json* reclaimable = find_path(queue, {"spec", "reclaimable"});
  if (reclaimable != nullptr && reclaimable->is_bool()) row["reclaimable"] = *reclaimable;
  put_amounts(row, "capability", object_at(queue, {"spec", "capability"}));
  put_amounts(row, "deserved", object_at(queue, {"spec", "deserved"}));
  put_amounts(row, "guarantee", object_at(queue, {"spec", "guarantee", "resource"}));
  put_amounts(row, "allocated", object_at(queue, {"status", "allocated"}));
  for (const std::string_view count : {"pending", "inqueue", "running", "unknown", "completed"})
    put_status_count(row, queue, count);
  return finish_row(std::move(*start));
}

}  // namespace berth::console
