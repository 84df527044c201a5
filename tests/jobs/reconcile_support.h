// A job and its workload for the tests of jobs/reconcile.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/merge_patch.h"
#include "base/yaml.h"
#include "jobs/compose.h"
#include "jobs/reconcile.h"
#include "jobs/workload_name.h"

namespace berth::jobs::reconcile_support {

using api::kueue::Workload;

inline Json yaml(std::string_view text) { return parse_yaml(text).value().front(); }

inline Json job(std::string_view changes = "{}") {
  static const Json base = yaml(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ns, uid: job-1, resourceVersion: "7", labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  suspend: true
  parallelism: 3
  completions: 3
  template:
    metadata:
      labels: {app: x, job-name: train, controller-uid: job-1, batch.kubernetes.io/job-name: train, batch.kubernetes.io/controller-uid: job-1}
    spec:
      containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]
)");
  return apply_merge_patch(base, yaml(changes));
}

inline JsonPtr ptr(Json value) { return std::make_shared<const Json>(std::move(value)); }

inline JobFacts facts() {
  static const api::kueue::ResourceFlavor flavor = [] {
    api::kueue::ResourceFlavor f;
    f.meta.name = "gpu";
    f.node_labels = {{"pool", "gpu"}};
    f.tolerations = {{"gpu", "Exists", "", "NoSchedule", {}}};
    return f;
  }();
  JobFacts result;
  result.flavors = [](std::string_view name) { return name == "gpu" ? &flavor : nullptr; };
  result.workload_priority_class = [](std::string_view name) -> std::optional<std::int32_t> {
    return name == "high" ? std::optional(100) : std::nullopt;
  };
  result.priority_class = [](std::string_view name) -> std::optional<std::int32_t> {
    return name == "pods" ? std::optional(7) : std::nullopt;
  };
  result.global_default_priority_class = []() -> std::optional<std::pair<std::string, std::int32_t>> {
    return std::nullopt;
  };
  result.workload = [](std::string_view, std::string_view) { return WorkloadPtr(); };
  return result;
}

inline Json made(const Json& of, const JobFacts& with) { return make_workload(batch_job(), of, with).value(); }

// The workload of `job()` as the API returns it, with additional status.
inline WorkloadPtr workload(std::string_view status = "{}", const Json& of = job()) {
  Json object = made(of, facts());
  ensure_path(object, {"metadata", "uid"}) = "wl-1";
  ensure_path(object, {"metadata", "resourceVersion"}) = "9";
  object.as_object()["status"] = yaml(status);
  return std::make_shared<const Workload>(api::kueue::decode_workload(object).value());
}

inline constexpr std::string_view kAdmittedStatus = R"(
admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 3, flavors: {cpu: gpu}, resourceUsage: {cpu: "3"}}]}
conditions:
- {type: QuotaReserved, status: "True", reason: QuotaReserved, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}
- {type: Admitted, status: "True", reason: Admitted, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}
)";

inline constexpr std::string_view kEvictedStatus = R"(
admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 3, flavors: {cpu: gpu}, resourceUsage: {cpu: "3"}}]}
conditions:
- {type: QuotaReserved, status: "True", reason: QuotaReserved, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}
- {type: Admitted, status: "True", reason: Admitted, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}
- {type: Evicted, status: "True", reason: Preempted, message: make room, lastTransitionTime: "2026-01-01T00:00:00Z"}
)";

template <typename T>
inline const T* first(const std::vector<Step>& steps) {
  for (const auto& step : steps) {
    if (const auto* found = std::get_if<T>(&step)) return found;
  }
  return nullptr;
}

inline std::vector<Step> steps_of(Json j, std::vector<WorkloadPtr> workloads) {
  return reconcile(batch_job(), ptr(std::move(j)), workloads, facts());
}

}  // namespace berth::jobs::reconcile_support
