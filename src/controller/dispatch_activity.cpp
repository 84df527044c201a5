#include "controller/dispatch_activity.h"

#include <utility>

namespace berth::controller {
namespace {

constexpr std::string_view kNoParameters = "Cannot load the AdmissionChecks parameters: ";

std::string name_list(const std::vector<std::string>& names) {
  std::string out = "[";
  for (const auto& name : names) out += (out.size() > 1 ? ", " : "") + name;
  return out + "]";
}

}  // namespace

Result<std::vector<std::string>> clusters_of(const api::kueue::AdmissionCheck& check,
                                             const std::function<JsonPtr(std::string_view name)>& config) {
  const auto& named = check.parameters;
  if (!named || named->api_group != api::kueue::kGroup || named->kind != "MultiKueueConfig")
    return fail(std::string(kNoParameters) +
                "expected spec.parameters with apiGroup kueue.x-k8s.io, kind MultiKueueConfig "
                "and a name");
  const JsonPtr found = config(named->name);
  if (!found)
    return fail(std::string(kNoParameters) + "MultiKueueConfig.kueue.x-k8s.io \"" + named->name + "\" not found");
  std::vector<std::string> names;
  for (const Json& name : array_at(*found, {"spec", "clusters"})) {
    if (name.is_string()) names.emplace_back(view(name.get_string()));
  }
  return names;
}

std::optional<api::Condition> dispatch_activity(const api::kueue::AdmissionCheck& check,
                                                const Result<std::vector<std::string>>& clusters,
                                                const std::function<ClusterState(const std::string& name)>& state) {
  api::Condition active;
  active.type = "Active";
  active.observed_generation = check.meta.generation;
  if (!clusters) {
    active.reason = "BadConfig";
    active.message = clusters.error().message;
    return active;
  }
  std::vector<std::string> missing, inactive;
  std::size_t usable = 0;
  bool unknown = false;
  for (const std::string& name : *clusters) {
    const ClusterState is = state(name);
    usable += is == ClusterState::kActive ? 1 : 0;
    unknown = unknown || is == ClusterState::kUnknown;
    if (is == ClusterState::kMissing) missing.push_back(name);
    if (is == ClusterState::kInactive || is == ClusterState::kUnknown) inactive.push_back(name);
  }
  if (usable == 0 && unknown) return std::nullopt;
  active.status = usable > 0;
  active.reason = usable == 0 ? "NoUsableClusters" : usable == clusters->size() ? "Active" : "SomeActiveClusters";
  if (!missing.empty()) active.message = "Missing clusters: " + name_list(missing);
  if (!inactive.empty())
    active.message += (missing.empty() ? "" : ", ") + ("Inactive clusters: " + name_list(inactive));
  if (active.message.empty()) active.message = "The admission check is active";
  return active;
}

}  // namespace berth::controller
