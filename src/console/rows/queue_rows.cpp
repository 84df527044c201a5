#include "console/rows/queue_rows.h"

#include "api/core/pod_resources.h"
#include "console/rows/fields.h"

namespace berth::console {
namespace {

// The entry of `list` with this name; null when there is none.
const Json* named(const JsonArray& list, std::string_view name) {
  for (const Json& each : list) {
    if (string_at(each, {"name"}) == name) return &each;
  }
  return nullptr;
}

void put_amount(JsonObject& row, std::string_view field, const Json* from, std::string_view from_field,
                std::string_view resource, bool always) {
  const auto amount = from == nullptr ? std::nullopt : amount_at(*from, from_field, resource);
  if (amount || always) row[field] = amount.value_or(0);
}

// The usage of a flavor and resource in a list of a status, such as flavorsUsage.
const Json* usage_of(const Json& object, std::string_view list, std::string_view flavor, std::string_view resource) {
  const Json* of_flavor = named(array_at(object, {"status", list}), flavor);
  return of_flavor == nullptr ? nullptr : named(array_at(*of_flavor, {"resources"}), resource);
}

// `usage`: with the amounts of the status.
JsonArray quotas_of(const Json& object, bool usage) {
  JsonArray quotas;
  for (const Json& group : array_at(object, {"spec", "resourceGroups"})) {
    for (const Json& flavor : array_at(group, {"flavors"})) {
      const std::string_view flavor_name = string_at(flavor, {"name"});
      for (const Json& resource : array_at(flavor, {"resources"})) {
        const std::string_view name = string_at(resource, {"name"});
        JsonObject quota{{"flavor", flavor_name}, {"resource", name}};
        put_amount(quota, "nominal", &resource, "nominalQuota", name, true);
        put_amount(quota, "borrowingLimit", &resource, "borrowingLimit", name, false);
        put_amount(quota, "lendingLimit", &resource, "lendingLimit", name, false);
        if (usage) {
          const Json* reserved = usage_of(object, "flavorsReservation", flavor_name, name);
          const Json* used = usage_of(object, "flavorsUsage", flavor_name, name);
          put_amount(quota, "reserved", reserved, "total", name, true);
          put_amount(quota, "used", used, "total", name, true);
          put_amount(quota, "borrowed", reserved, "borrowed", name, true);
        }
        quotas.push_back(std::move(quota));
      }
    }
  }
  return quotas;
}

void put_fair_sharing(JsonObject& row, const Json& object) {
  if (const Json* weight = find_path(object, {"spec", "fairSharing", "weight"})) {
    if (const auto quantity = api::decode_quantity(*weight))
      row["weight"] = static_cast<double>(quantity->milli_value()) / 1000;
  }
  put_int(row, "share", optional_int_at(object, {"status", "fairSharing", "weightedShare"}));
}

void put_active(JsonObject& row, const Json& object) {
  const Json* active = condition_of(object, "Active");
  row["active"] = is_true(active);
  if (!is_true(active)) put_why(row, active);
}

void put_counts(JsonObject& row, const Json& object) {
  row["pending"] = int_at(object, {"status", "pendingWorkloads"});
  row["reserving"] = int_at(object, {"status", "reservingWorkloads"});
  row["admitted"] = int_at(object, {"status", "admittedWorkloads"});
}

JsonArray names_of_checks(const Json& cluster_queue) {
  JsonArray names;
  for (const Json& check : array_at(cluster_queue, {"spec", "admissionChecksStrategy", "admissionChecks"}))
    names.emplace_back(string_at(check, {"name"}));
  return names;
}

JsonArray usage_of_local_queue(const Json& local_queue) {
  JsonArray usage;
  for (const Json& flavor : array_at(local_queue, {"status", "flavorsReservation"})) {
    const std::string_view flavor_name = string_at(flavor, {"name"});
    for (const Json& resource : array_at(flavor, {"resources"})) {
      const std::string_view name = string_at(resource, {"name"});
      JsonObject each{{"flavor", flavor_name}, {"resource", name}};
      put_amount(each, "reserved", &resource, "total", name, true);
      put_amount(each, "used", usage_of(local_queue, "flavorsUsage", flavor_name, name), "total", name, true);
      usage.push_back(std::move(each));
    }
  }
  return usage;
}

}  // namespace

std::optional<Row> cluster_queue_row(const Json& queue) {
  auto start = start_row(queue);
  if (!start) return std::nullopt;
  JsonObject& row = start->fields;
  put_text(row, "cohort", string_at(queue, {"spec", "cohortName"}));
  row["strategy"] = string_at(queue, {"spec", "queueingStrategy"}, "BestEffortFIFO");
  row["stop"] = string_at(queue, {"spec", "stopPolicy"}, "None");
  put_active(row, queue);
  row["quotas"] = quotas_of(queue, true);
  put_counts(row, queue);
  put_fair_sharing(row, queue);
  if (JsonArray checks = names_of_checks(queue); !checks.empty()) row["checks"] = std::move(checks);
  put_text(row, "withinClusterQueue", string_at(queue, {"spec", "preemption", "withinClusterQueue"}));
  put_text(row, "reclaimWithinCohort", string_at(queue, {"spec", "preemption", "reclaimWithinCohort"}));
  put_text(row, "borrowWithinCohort", string_at(queue, {"spec", "preemption", "borrowWithinCohort", "policy"}));
  put_text(row, "fairSharing", string_at(queue, {"spec", "admissionScope", "admissionMode"}));
  return finish_row(std::move(*start));
}

std::optional<Row> cohort_row(const Json& cohort) {
  auto start = start_row(cohort);
  if (!start) return std::nullopt;
  JsonObject& row = start->fields;
  put_text(row, "parent", string_at(cohort, {"spec", "parentName"}));
  row["quotas"] = quotas_of(cohort, false);
  put_fair_sharing(row, cohort);
  return finish_row(std::move(*start));
}

std::optional<Row> local_queue_row(const Json& queue) {
  auto start = start_row(queue);
  if (!start) return std::nullopt;
  JsonObject& row = start->fields;
  row["cq"] = string_at(queue, {"spec", "clusterQueue"});
  row["stop"] = string_at(queue, {"spec", "stopPolicy"}, "None");
  put_active(row, queue);
  put_counts(row, queue);
  row["usage"] = usage_of_local_queue(queue);
  put_fair_sharing(row, queue);
  const Json* past = find_path(queue, {"status", "fairSharing", "admissionFairSharingStatus"});
  if (past != nullptr) {
    Amounts consumed;
    add_amounts(consumed, object_at(*past, {"consumedResources"}));
    row["past"] = to_json(consumed);
    put_int(row, "pastAt", millis_at(*past, {"lastUpdate"}));
  }
  return finish_row(std::move(*start));
}

}  // namespace berth::console
