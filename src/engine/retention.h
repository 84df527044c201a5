// Deletes workloads some time after they finished or were deactivated by Berth (KEP-1618, Configuration:
// objectRetentionPolicies).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/config/policies.h"
#include "api/kueue/types.h"

namespace berth::engine {

class Retention {
 public:
  using WorkloadPtr = std::shared_ptr<const api::kueue::Workload>;
  explicit Retention(const api::config::WorkloadRetention& settings) : settings_(settings) {}

  // When the workload must be deleted: the configured time after it finished, or after Berth deactivated it and its
  // job stopped. nullopt: it is kept, or its deletion has already begun.
  std::optional<Time> deadline(const api::kueue::Workload& workload) const;

  void seen(const WorkloadPtr& workload);
  void gone(std::string_view key, std::string_view uid);  // key is "namespace/name"; an empty uid matches any
  std::optional<Time> earliest() const;
  std::vector<WorkloadPtr> kept() const;  // all that have a deadline, by key
  // The due workloads, earliest deadline first. Each is returned again every minute until gone(): its deletion may
  // have failed.
  std::vector<WorkloadPtr> take_due(Time now);

 private:
  struct Entry {
    WorkloadPtr workload;
    Time at{};
  };
  void erase(std::map<std::string, Entry, std::less<>>::iterator it);

  api::config::WorkloadRetention settings_;
  std::map<std::string, Entry, std::less<>> entries_;  // by key; only workloads that have a deadline
  std::set<std::pair<Time, std::string>> order_;
};

}  // namespace berth::engine
