#include "controller/queue_status.h"

#include "api/meta.h"
#include "base/amount.h"

namespace berth::controller {
namespace {

Json encode_usage(const std::vector<engine::FlavorUsageStatus>& usage, bool with_borrowed) {
  JsonArray flavors;
  for (const auto& flavor : usage) {
    JsonArray resources;
    for (const auto& resource : flavor.resources) {
      JsonObject entry{{"name", resource.name}, {"total", format_amount(resource.name, resource.total)}};
      if (with_borrowed) entry["borrowed"] = format_amount(resource.name, resource.borrowed);
      resources.push_back(std::move(entry));
    }
    flavors.push_back(JsonObject{{"name", flavor.flavor}, {"resources", std::move(resources)}});
  }
  return flavors;
}

void add_fair_share(JsonObject& out, const std::optional<engine::FairShareStatus>& share) {
  if (share) out["fairSharing"] = JsonObject{{"weightedShare", share->weighted_share}};
}

template <typename Status>
JsonObject encode(const Status& status, const Json& object, Time now, bool with_borrowed) {
  api::Conditions conditions;
  if (const Json* present = find_path(object, {"status", "conditions"})) conditions = api::decode_conditions(*present);
  api::Condition active;
  active.type = "Active";
  active.status = status.active;
  active.reason = status.reason;
  active.message = status.message;
  active.last_transition = to_seconds(now);
  active.observed_generation = int_at(object, {"metadata", "generation"});
  api::set_condition(conditions, active);
  JsonObject out{{"conditions", api::encode_conditions(conditions)},
                 {"pendingWorkloads", status.pending},
                 {"reservingWorkloads", status.reserving},
                 {"admittedWorkloads", status.admitted}};
  if (!status.reservation.empty()) out["flavorsReservation"] = encode_usage(status.reservation, with_borrowed);
  if (!status.usage.empty()) out["flavorsUsage"] = encode_usage(status.usage, with_borrowed);
  return out;
}

}  // namespace

Json encode_status(const engine::ClusterQueueStatus& status, const Json& object, Time now) {
  JsonObject out = encode(status, object, now, true);
  add_fair_share(out, status.fair_share);
  return out;
}
Json encode_status(const engine::LocalQueueStatus& status, const Json& object, Time now) {
  JsonObject out = encode(status, object, now, false);
  if (!status.past_usage) return out;
  JsonObject consumed;
  for (const auto& [resource, quantity] : status.past_usage->consumed) consumed[resource] = quantity.to_string();
  const Time at = status.past_usage->last_update;
  JsonObject past{{"consumedResources", std::move(consumed)},
                  {"lastUpdate", at == to_seconds(at) ? format_time(at) : format_micro_time(at)}};
  // Local queues borrow nothing, but the API requires their share.
  out["fairSharing"] = JsonObject{{"weightedShare", 0}, {"admissionFairSharingStatus", std::move(past)}};
  return out;
}
Json encode_status(const engine::CohortStatus& status, const Json&, Time) {
  JsonObject out;
  add_fair_share(out, status.fair_share);
  return out;
}

}  // namespace berth::controller
