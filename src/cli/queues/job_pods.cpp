#include "cli/queues/job_pods.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/kueue/names.h"
#include "cli/queues/workload_facts.h"

namespace berth::cli::queues {
namespace {

// Labels with the name of the object that pods belong to, of operators that own pods through other objects.
constexpr std::string_view kNameLabels[] = {"jobset.sigs.k8s.io/jobset-name", "leaderworkerset.sigs.k8s.io/name",
                                            "training.kubeflow.org/job-name", "ray.io/cluster"};

}  // namespace

JobPods::JobPods(const FoundResource& resource, const Json& object, const JsonArray& workloads)
    : uid_(string_at(object, {"metadata", "uid"})), name_(string_at(object, {"metadata", "name"})) {
  for (const Json& workload : workloads) {
    if (belongs_to(workload, object)) workloads_.emplace(string_at(workload, {"metadata", "name"}));
  }
  custom_ = !resource.resource.group.empty() && resource.resource.group.find('.') != std::string::npos;
  const Json* selector = find_path(object, {"spec", "selector"});
  if (custom_ || selector == nullptr || resource.resource.group.empty()) return;
  // Only the selectors of batch and apps are label selectors of pods.
  if (auto parsed = api::LabelSelector::from_json(*selector)) selector_ = std::move(*parsed);
}

bool JobPods::has(const Json& pod) const {
  if (string_at(pod, {"metadata", "uid"}) == uid_) return true;
  for (const Json& owner : array_at(pod, {"metadata", "ownerReferences"})) {
    if (string_at(owner, {"uid"}) == uid_) return true;
  }
  const std::string workload(string_at(pod, {"metadata", "annotations", api::kueue::kWorkloadAnnotation}));
  if (!workload.empty() && workloads_.contains(workload)) return true;
  const JsonObject& labels = object_at(pod, {"metadata", "labels"});
  if (selector_ && !selector_->empty() && selector_->matches(labels)) return true;
  return custom_ && std::ranges::any_of(kNameLabels, [&](std::string_view label) {
           return string_at(pod, {"metadata", "labels", label}) == name_;
         });
}

}  // namespace berth::cli::queues
