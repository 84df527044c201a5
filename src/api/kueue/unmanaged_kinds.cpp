#include "api/kueue/unmanaged_kinds.h"

#include <algorithm>

#include "api/kueue/job_rules.h"
#include "api/kueue/types.h"

namespace berth::api::kueue {
namespace {

constexpr UnmanagedKind kUnmanagedKinds[] = {
    {"jobset.x-k8s.io", "jobsets", "jobset-x-k8s-io-v1alpha2-jobset"},
    {"kubeflow.org", "jaxjobs", "kubeflow-org-v1-jaxjob"},
    {"kubeflow.org", "paddlejobs", "kubeflow-org-v1-paddlejob"},
    {"kubeflow.org", "pytorchjobs", "kubeflow-org-v1-pytorchjob"},
    {"kubeflow.org", "tfjobs", "kubeflow-org-v1-tfjob"},
    {"kubeflow.org", "xgboostjobs", "kubeflow-org-v1-xgboostjob"},
    {"kubeflow.org", "mpijobs", "kubeflow-org-v2beta1-mpijob"},
    {"ray.io", "rayclusters", "ray-io-v1-raycluster"},
    {"ray.io", "rayjobs", "ray-io-v1-rayjob"},
    {"ray.io", "rayservices", "ray-io-v1-rayservice"},
    {"sparkoperator.k8s.io", "sparkapplications", "sparkoperator-k8s-io-v1beta2-sparkapplication"},
    {"trainer.kubeflow.org", "trainjobs", "trainer-kubeflow-org-v1alpha1-trainjob"},
    {"workload.codeflare.dev", "appwrappers", "workload-codeflare-dev-v1beta2-appwrapper"},
};

bool gets_its_queue(const Json& object, const Json* old) {
  const std::string_view queue = label_of(object, kQueueLabel);
  return !queue.empty() && (old == nullptr || queue != label_of(*old, kQueueLabel));
}

std::string runs_without_quota(const Json& object, std::string_view kind) {
  std::string_view name = string_at(object, {"metadata", "name"});
  if (name.empty()) name = string_at(object, {"metadata", "generateName"});
  return std::string(kind) + " \"" + std::string(name) + "\" runs without quota, though the label " +
         std::string(kQueueLabel) + " names the queue \"" + std::string(label_of(object, kQueueLabel)) + "\": ";
}

}  // namespace

std::span<const UnmanagedKind> unmanaged_kinds() { return kUnmanagedKinds; }

bool is_unmanaged_kind(std::string_view group, std::string_view resource) {
  return std::ranges::any_of(
      kUnmanagedKinds, [&](const UnmanagedKind& kind) { return kind.group == group && kind.resource == resource; });
}

std::string unmanaged_kind_warning(const Json& object, const Json* old) {
  if (!gets_its_queue(object, old)) return {};
  return runs_without_quota(object, string_at(object, {"kind"})) +
         "Berth does not manage this kind yet; remove the label, or use a Job, pods, a Deployment or a StatefulSet";
}

std::string unlisted_kind_warning(const Json& object, const Json* old, std::string_view kind,
                                  std::string_view framework) {
  if (!gets_its_queue(object, old)) return {};
  return runs_without_quota(object, kind) + "integrations.frameworks does not list \"" + std::string(framework) +
         "\"; add it to Berth's configuration, or remove the label";
}

}  // namespace berth::api::kueue
