// Pods for the tests of the rules about them.
#pragma once

#include <string>
#include <string_view>

#include "api/field_error.h"
#include "base/yaml.h"

namespace berth::api::kueue::pod_tests {

inline Json object(std::string_view yaml) { return parse_yaml(yaml).value().front(); }
inline std::string errors_of(const FieldErrors& errors) { return errors.empty() ? "" : to_string(errors); }

// A pod as Kubernetes completes it before webhooks see it.
inline Json pod(std::string_view labels, std::string_view annotations = "{}", std::string_view cpu = "1") {
  Json out = object(
      "{metadata: {name: p, namespace: a}, spec: {restartPolicy: Never, priority: 0, containers: [{name: c, image: i, "
      "resources: {requests: {cpu: '" +
      std::string(cpu) +
      "'}}}], tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, "
      "tolerationSeconds: 300}, {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, "
      "tolerationSeconds: 300}]}, status: {phase: Pending}}");
  ensure_path(out, {"metadata", "labels"}) = object(labels);
  ensure_path(out, {"metadata", "annotations"}) = object(annotations);
  return out;
}

inline constexpr std::string_view kQueued = "{kueue.x-k8s.io/queue-name: q}";

}  // namespace berth::api::kueue::pod_tests
