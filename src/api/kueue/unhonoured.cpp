#include "api/kueue/unhonoured.h"

#include <fmt/format.h>

#include <optional>

#include "base/json.h"

namespace berth::api::kueue {
namespace {

using enum Unhonoured::What;

constexpr std::string_view kOnlySecrets = "the kubeconfig of a worker cluster comes from a Secret";
constexpr std::string_view kNoSets = "StatefulSets and LeaderWorkerSets run on no other cluster";
constexpr std::string_view kOnePlace = "a workload has one place in the queue and takes the first flavor that fits";
constexpr std::string_view kSameSize = "a job of Ray keeps its size while it runs";
constexpr std::string_view kOwnPreemption = "the `preemption` of the ClusterQueue decides alone";
constexpr std::string_view kStaticQuota = "quota is what ClusterQueues and Cohorts say";

constexpr Unhonoured kAll[] = {
    {kKind, "", "CapacityProvider", kStaticQuota},
    {kKind, "", "DynamicQuotaOrchestrator", kStaticQuota},
    {kKind, "", "PreemptionConfig", kOwnPreemption},
    {kField, "ClusterQueue", "spec.concurrentAdmissionPolicy", kOnePlace},
    {kField, "ClusterQueue", "status.effectiveQuotas", kStaticQuota},
    {kField, "Cohort", "status.effectiveQuotas", kStaticQuota},
    {kField, "MultiKueueCluster", "spec.clusterSource.clusterProfileRef", kOnlySecrets},
    {kField, "MultiKueueConfig", "spec.quotaManagement", kStaticQuota},
    {kField, "ResourceFlavor", "spec.nodeTaints.timeAdded", "a taint of a flavor counts from the beginning"},
    {kSetting, "Configuration", "multiKueue.clusterProfile", kOnlySecrets},
    {kLabel, "", "kueue.x-k8s.io/concurrent-admission-parent", kOnePlace},
    {kAnnotation, "", "kueue.x-k8s.io/concurrent-admission", kOnePlace},
    {kAnnotation, "", "kueue.x-k8s.io/multikueue-origin-uid", kNoSets},
    {kAnnotation, "", "kueue.x-k8s.io/raycluster-generation", kSameSize},
    {kAnnotation, "", "kueue.x-k8s.io/raycluster-podset-replica-sizes", kSameSize},
    {kAnnotation, "ClusterQueue", "kueue.x-k8s.io/preemption-config-name", kOwnPreemption},
    {kAnnotation, "Workload", "kueue.x-k8s.io/workload-allowed-resource-flavors", kOnePlace},
    {kEvent, "", "ActivatedVariant", kOnePlace},
    {kEvent, "", "CreatedVariant", kOnePlace},
    {kEvent, "", "DeactivatedVariant", kOnePlace},
    {kEvent, "", "DeletedVariant", kOnePlace},
    {kEvent, "", "DeprecatedPathUsage", kOnlySecrets},
    {kEvent, "", "PreemptionUngatedVariant", kOnePlace},
    {kEvent, "", "PriorityBoostCleared", "nobody but users sets priority boosts"},
    {kEvent, "", "PriorityBoostSet", "nobody but users sets priority boosts"},
};

// The value at a path of names; null: it is not there.
const Json* at(const Json& object, std::string_view path) {
  const Json* value = &object;
  while (value != nullptr && !path.empty()) {
    const std::size_t dot = path.find('.');
    value = find(*value, path.substr(0, dot));
    path = dot == path.npos ? std::string_view() : path.substr(dot + 1);
  }
  return value;
}

const Json* value_of(const Unhonoured& one, const Json& object) {
  switch (one.what) {
    case kField:
      return at(object, one.name);
    case kLabel:
      return find_path(object, {"metadata", "labels", one.name});
    case kAnnotation:
      return find_path(object, {"metadata", "annotations", one.name});
    default:
      return nullptr;
  }
}

std::string name_of(const Unhonoured& one) {
  if (one.what == kField) return std::string(one.name);
  return fmt::format("metadata.{}[{}]", one.what == kLabel ? "labels" : "annotations", one.name);
}

}  // namespace

std::span<const Unhonoured> unhonoured() { return kAll; }

std::string unhonoured_warning(std::string_view kind, const Json& object, const Json* old) {
  std::string out;
  for (const Unhonoured& one : kAll) {
    if (one.kind != kind || (one.what == kField && one.name.starts_with("status"))) continue;
    const Json* now = value_of(one, object);
    if (now == nullptr || now->is_null()) continue;
    const Json* before = old == nullptr ? nullptr : value_of(one, *old);
    if (before != nullptr && json_equal(*now, *before)) continue;
    out += fmt::format("{}{} is not honoured: {}", out.empty() ? "" : "; ", name_of(one), one.instead);
  }
  return out;
}

}  // namespace berth::api::kueue
