// Workloads, configurations and ProvisioningRequests for the tests of provisioning.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "api/autoscaling/provisioning_request.h"
#include "api/kueue/provisioning_request_config.h"
#include "api/kueue/types.h"
#include "base/merge_patch.h"
#include "base/yaml.h"

namespace berth::jobs::provisioning_test {

inline Json yaml(std::string_view text) { return parse_yaml(text).value().front(); }

using ConfigPtr = std::shared_ptr<const api::kueue::ProvisioningRequestConfig>;

inline ConfigPtr config(std::string_view changes = "{}") {
  Json object = yaml(R"(
metadata: {name: conf}
spec:
  provisioningClassName: class.example.com
  parameters: {p: "1"}
  retryStrategy: {backoffLimitCount: 2, backoffBaseSeconds: 60, backoffMaxSeconds: 100}
)");
  object.as_object()["spec"] = apply_merge_patch(object.as_object()["spec"], yaml(changes));
  return std::make_shared<const api::kueue::ProvisioningRequestConfig>(
      api::kueue::decode_provisioning_request_config(object).value());
}

// A workload "wl" that reserves quota for three pods of flavor "gpu". Its check "chk" is Pending.
inline api::kueue::Workload workload(std::string_view changes = "{}") {
  static const Json base = yaml(R"(
metadata: {name: wl, namespace: ns, uid: wl-uid}
spec:
  queueName: q
  active: true
  podSets:
  - name: main
    count: 3
    template:
      metadata: {labels: {app: x}, annotations: {a: b}}
      spec:
        nodeSelector: {own: "1"}
        containers: [{name: c, image: i, resources: {requests: {cpu: "1"}, limits: {cpu: "2", memory: 1Gi}}}]
status:
  admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 3, flavors: {cpu: gpu, memory: gpu}, resourceUsage: {cpu: "3"}}]}
  admissionChecks: [{name: chk, state: Pending, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]
  conditions: [{type: QuotaReserved, status: "True", reason: R, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]
)");
  return api::kueue::decode_workload(apply_merge_patch(base, yaml(changes))).value();
}

inline constexpr std::string_view kAdmittedToo = R"({status: {conditions: [
  {type: QuotaReserved, status: "True", reason: R, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"},
  {type: Admitted, status: "True", reason: R, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]}})";

inline api::Condition condition(std::string_view type, bool status, std::string_view message) {
  api::Condition c;
  c.type = type;
  c.status = status;
  c.reason = "R";
  c.message = message;
  return c;
}

// A request for the check with config().
inline api::autoscaling::ProvisioningRequest request(std::string_view name, api::Conditions conditions = {}) {
  api::autoscaling::ProvisioningRequest r;
  r.meta.name = name;
  r.meta.ns = "ns";
  r.meta.uid = std::string(name) + "-uid";
  r.meta.labels = {{"kueue.x-k8s.io/managed", "true"}};
  r.meta.owners = {{"kueue.x-k8s.io/v1beta2", "Workload", "wl", "wl-uid", true, true}};
  r.class_name = "class.example.com";
  r.parameters = {{"p", "1"}};
  r.pod_sets = {{"ppt-" + std::string(name) + "-main", 3}};
  r.conditions = std::move(conditions);
  return r;
}

}  // namespace berth::jobs::provisioning_test
