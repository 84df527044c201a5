#include "console/usage_series.h"

#include "base/amount.h"
#include "console/rows/fields.h"

namespace berth::console {
namespace {

void saturating_add(std::int64_t& sum, std::int64_t more) { sum = (Amount::of(sum) + Amount::of(more)).count(); }

}  // namespace

void UsageSeries::queue_changed(const std::string& key, const Json* now) {
  queues_.erase(key);
  if (now == nullptr) return;
  Quotas quotas;
  for (const Json& group : array_at(*now, {"spec", "resourceGroups"})) {
    for (const Json& flavor : array_at(group, {"flavors"})) {
      for (const Json& resource : array_at(flavor, {"resources"})) {
        const std::string_view name = string_at(resource, {"name"});
        saturating_add(quotas[{std::string(string_at(flavor, {"name"})), std::string(name)}].nominal,
                       amount_at(resource, "nominalQuota", name).value_or(0));
      }
    }
  }
  for (const Json& flavor : array_at(*now, {"status", "flavorsUsage"})) {
    for (const Json& resource : array_at(flavor, {"resources"})) {
      const std::string_view name = string_at(resource, {"name"});
      saturating_add(quotas[{std::string(string_at(flavor, {"name"})), std::string(name)}].used,
                     amount_at(resource, "total", name).value_or(0));
    }
  }
  queues_.emplace(key, std::move(quotas));
}

void UsageSeries::sample(Time time) {
  Quotas sum;
  for (const auto& [key, quotas] : queues_) {
    for (const auto& [which, quota] : quotas) {
      saturating_add(sum[which].used, quota.used);
      saturating_add(sum[which].nominal, quota.nominal);
    }
  }
  JsonObject usage;
  for (const auto& [which, quota] : sum) {
    Json& flavor = usage[which.first];
    if (!flavor.is_object()) flavor = JsonObject();
    flavor.get_object()[which.second] = JsonArray{quota.used, quota.nominal};
  }
  const std::int64_t at = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const std::string key = std::to_string(at);
  series_.set({key, "", to_string(JsonObject{{"key", key}, {"t", at}, {"usage", std::move(usage)}})});
  keys_.push_back(key);
  while (keys_.size() > kMaxSamples) {
    series_.erase(keys_.front());
    keys_.pop_front();
  }
}

}  // namespace berth::console
