// The webhooks of shipped kinds, and jobs for them.
#pragma once

#include <string>
#include <string_view>

#include "jobs/kinds/kind_rules.h"
#include "jobs/kinds/support.h"

namespace berth::jobs::kinds::support {

inline constexpr std::string_view kPod = "{spec: {containers: [{name: c, image: i}]}}";

inline JsonPtr runtime(const api::GroupVersionResource& resource, std::string_view, std::string_view name) {
  if (resource.resource != "clustertrainingruntimes" || name != "shared") return nullptr;
  return std::make_shared<const Json>(
      yaml("{spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: " + std::string(kPod) +
           "}}}]}}}}"));
}

struct Webhook {
  explicit Webhook(std::string_view kind) : rules(rules_of(shipped(kind), true).rules) {}

  Json completed(Json job) const {
    rules.mutate(job, context);
    return job;
  }
  std::string refusal(const Json& job, const Json* old = nullptr) const {
    return api::to_string(rules.check(job, old, "", context));
  }

  api::kueue::ObjectGetter get = runtime;
  api::kueue::AdmissionPolicy policy;
  api::kueue::AdmissionContext context{get, policy};
  api::kueue::AdmissionRules rules;
};

// A job with a queue. `$` in the spec stands for a pod template.
inline Json job(std::string_view spec, std::string_view metadata = "{}") {
  std::string text(spec);
  for (auto at = text.find('$'); at != std::string::npos; at = text.find('$')) text.replace(at, 1, kPod);
  Json out = JsonObject{{"metadata", yaml(metadata)}, {"spec", yaml(text)}};
  ensure_path(out, {"metadata", "namespace"}) = "ns";
  ensure_path(out, {"metadata", "name"}) = "a";
  ensure_path(out, {"metadata", "labels", "kueue.x-k8s.io/queue-name"}) = "q";
  return out;
}

}  // namespace berth::jobs::kinds::support
