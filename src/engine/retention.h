// Workloads that shall be deleted some time after they finished or were given up (KEP-1618, Configuration: objectRetentionPolicies).
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

  // When it shall be deleted: so long after it finished, or after Berth deactivated it and its job stopped; none: it stays, or is
  // being deleted already.
  std::optional<Time> deadline(const api::kueue::Workload& workload) const;

  void seen(const WorkloadPtr& workload);
  void gone(std::string_view key, std::string_view uid);  // "namespace/name"; "": whatever uid it had
  std::optional<Time> earliest() const;
  // In order of their deadlines. Each comes again after a minute, until it is gone: its deletion may have failed.
  std::vector<WorkloadPtr> take_due(Time now);

 private:
  struct Entry {
    WorkloadPtr workload;
    Time at{};
  };
  void erase(std::map<std::string, Entry, std::less<>>::iterator it);

  api::config::WorkloadRetention settings_;
  std::map<std::string, Entry, std::less<>> entries_;  // by key; one per workload that will be deleted
  std::set<std::pair<Time, std::string>> order_;
};

}  // namespace berth::engine
