// Whether an AdmissionCheck of MultiKueue can work: its condition Active.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/types.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::controller {

// The names of the clusters of the MultiKueueConfig that the check names, in its order. `config`: a MultiKueueConfig by
// name, or null. The error is the message of the condition.
Result<std::vector<std::string>> clusters_of(const api::kueue::AdmissionCheck& check,
                                             const std::function<JsonPtr(std::string_view name)>& config);

enum class ClusterState : std::uint8_t {
  kMissing,  // there is no MultiKueueCluster of this name
  kUnknown,  // no attempt to connect has ended yet
  kInactive,
  kActive,
};

// nullopt: it is not known yet.
std::optional<api::Condition> dispatch_activity(const api::kueue::AdmissionCheck& check,
                                                const Result<std::vector<std::string>>& clusters,
                                                const std::function<ClusterState(const std::string& name)>& state);

}  // namespace berth::controller
