// The webhook rules for Deployments and StatefulSets: what they get, and each refusal that Kueue's webhooks were seen
// to give.
#include "api/kueue/serving_rules.h"

#include <gtest/gtest.h>

#include "api/kueue/deployment_rules.h"
#include "api/kueue/pod_rules.h"
#include "api/kueue/stateful_set_rules.h"
#include "api/kueue/webhooks/admission.h"
#include "base/yaml.h"

namespace berth::api::kueue::serving_rules_test {
namespace {

Json object(std::string_view yaml) { return parse_yaml(yaml).value().front(); }
std::string errors_of(const FieldErrors& errors) { return errors.empty() ? "" : to_string(errors); }

Json serving(std::string_view labels, std::string_view annotations = "{}") {
  Json out = object(R"(
metadata: {name: a, namespace: ns}
spec:
  replicas: 2
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}
)");
  ensure_path(out, {"metadata", "labels"}) = object(labels);
  ensure_path(out, {"metadata", "annotations"}) = object(annotations);
  return out;
}
Json with(Json out, std::initializer_list<std::string_view> path, Json value) {
  ensure_path(out, path) = std::move(value);
  return out;
}
Json ready(Json out) { return with(std::move(out), {"status", "readyReplicas"}, Json(1)); }
std::string template_metadata(const Json& of) { return to_string(*find_path(of, {"spec", "template", "metadata"})); }

constexpr std::string_view kQueued = "{kueue.x-k8s.io/queue-name: q}";
constexpr std::string_view kQueue = "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: ";

TEST(ServingRules, ADeploymentHandsQueueAndPriorityToItsPods) {
  Json now = serving("{kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/priority-class: high}");
  default_deployment(now, {});
  EXPECT_EQ(
      template_metadata(now),
      R"({"labels":{"app":"a","kueue.x-k8s.io/managed":"true","kueue.x-k8s.io/queue-name":"q",)"
      R"("kueue.x-k8s.io/priority-class":"high"},"annotations":{"kueue.x-k8s.io/pod-suspending-parent":"deployment"}})");
  Json again = now;
  default_deployment(again, {});
  EXPECT_EQ(again, now);
  Json moved = with(now, {"metadata", "labels", "kueue.x-k8s.io/queue-name"}, "q2");
  default_deployment(moved, {});
  EXPECT_EQ(string_at(moved, {"spec", "template", "metadata", "labels", "kueue.x-k8s.io/queue-name"}), "q2");
}

TEST(ServingRules, AStatefulSetOnlyLetsItsPodsWait) {
  Json now = serving(kQueued);
  default_stateful_set(now, {});
  EXPECT_EQ(template_metadata(now),
            R"({"labels":{"app":"a"},"annotations":{"kueue.x-k8s.io/pod-suspending-parent":"statefulset"}})");
}

TEST(ServingRules, WhatIsNotManagedStaysAsItIs) {
  for (const auto set_defaults : {default_deployment, default_stateful_set}) {
    const Json plain = serving("{}"), queued = serving(kQueued);
    const auto with_defaults = [&](Json now, const JobContext& context) {
      set_defaults(now, context);
      return now;
    };
    EXPECT_EQ(with_defaults(plain, {}), plain);
    EXPECT_EQ(with_defaults(queued, {.namespace_managed = false}), queued);
    EXPECT_EQ(with_defaults(queued, {.ancestor_managed = true}), queued);
    EXPECT_NE(with_defaults(plain, {.manage_without_queue_name = true}), plain);
    const Json by_default = with_defaults(plain, {.default_queue_exists = true, .default_priority_class_exists = true});
    EXPECT_EQ(to_string(by_default.at("metadata").at("labels")),
              R"({"kueue.x-k8s.io/queue-name":"default","kueue.x-k8s.io/priority-class":"default"})");
  }
}

TEST(ServingRules, RefuseWrongLabelsAndAnnotations) {
  const Json wrong = serving("{kueue.x-k8s.io/queue-name: Bad_Name, kueue.x-k8s.io/max-exec-time-seconds: soon}",
                             "{kueue.x-k8s.io/elastic-job: 'true', kueue.x-k8s.io/admission-gated-by: gate}");
  const auto expect = [&](const FieldErrors& errors, std::string_view kind) {
    ASSERT_EQ(errors.size(), 3u) << errors_of(errors);
    EXPECT_NE(errors_of(errors).find(std::string(kQueue) + R"("Bad_Name": a lowercase RFC 1123 subdomain)"),
              std::string::npos);
    EXPECT_NE(errors_of(errors).find("metadata.annotations[kueue.x-k8s.io/elastic-job]: Forbidden: elastic job is not "
                                     "supported for \"apps/v1, Kind=" +
                                     std::string(kind) + "\""),
              std::string::npos)
        << errors_of(errors);
    EXPECT_NE(errors_of(errors).find(
                  R"(metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Invalid value: "gate": must be a )"),
              std::string::npos);
  };
  expect(validate_deployment(wrong, {}), "Deployment");
  expect(validate_stateful_set(wrong, {}), "StatefulSet");
  EXPECT_EQ(errors_of(validate_deployment(wrong, {.namespace_managed = false})), "");
  EXPECT_EQ(errors_of(validate_stateful_set(wrong, {.ancestor_managed = true})), "");
}

TEST(ServingRules, TheQueueChangesOnlyWhileNoPodIsReady) {
  const Json queued = serving(kQueued), other = serving("{kueue.x-k8s.io/queue-name: q2}"), none = serving("{}");
  for (const auto check : {validate_deployment_update, validate_stateful_set_update}) {
    EXPECT_EQ(errors_of(check(other, queued, {})), "");
    EXPECT_EQ(errors_of(check(queued, none, {})), "");
    EXPECT_EQ(errors_of(check(other, ready(queued), {})), std::string(kQueue) + "\"q2\": field is immutable");
    EXPECT_EQ(errors_of(check(queued, ready(none), {})), std::string(kQueue) + "\"q\": field is immutable");
    EXPECT_EQ(errors_of(check(none, queued, {})), std::string(kQueue) + "\"\": field is immutable");
    const Json urgent = serving("{kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/priority-class: high}");
    EXPECT_EQ(errors_of(check(urgent, queued, {})), "");
    EXPECT_NE(errors_of(check(urgent, ready(queued), {})).find("cannot be added to a non-suspended workload"),
              std::string::npos);
    EXPECT_NE(errors_of(check(queued, urgent, {})).find("cannot be removed from a workload"), std::string::npos);
  }
}

TEST(ServingRules, AManagedStatefulSetKeepsItsSizeAndTheShapeOfItsPods) {
  const Json queued = serving(kQueued);
  const auto sized = [&](std::int64_t replicas) { return with(queued, {"spec", "replicas"}, Json(replicas)); };
  EXPECT_EQ(errors_of(validate_stateful_set_update(sized(3), queued, {})),
            "spec.replicas: Invalid value: 3: field is immutable");
  EXPECT_EQ(errors_of(validate_stateful_set_update(sized(0), queued, {})), "");
  EXPECT_EQ(errors_of(validate_stateful_set_update(sized(3), sized(0), {})), "");
  EXPECT_EQ(errors_of(validate_deployment_update(sized(3), queued, {})), "");
  const auto with_container = [&](std::string_view yaml) {
    return with(queued, {"spec", "template", "spec", "containers"}, object(yaml));
  };
  const Json larger = with_container("[{name: c, image: i, resources: {requests: {cpu: '2'}}}]");
  EXPECT_EQ(errors_of(validate_stateful_set_update(larger, queued, {})),
            "spec.template.spec.containers[0].resources.requests: Invalid value: {\"cpu\":\"2\"}: field is immutable");
  EXPECT_EQ(errors_of(validate_deployment_update(larger, queued, {})), "");
  EXPECT_EQ(errors_of(validate_stateful_set_update(
                with_container("[{name: c, image: j, resources: {requests: {cpu: 1000m}}}]"), queued, {})),
            "");
  EXPECT_NE(errors_of(validate_stateful_set_update(with_container("[]"), queued, {}))
                .find("spec.template.spec.containers: Invalid value"),
            std::string::npos);
  EXPECT_NE(errors_of(validate_stateful_set_update(
                          with(queued, {"spec", "template", "spec", "nodeSelector"}, object("{a: b}")), queued, {}))
                .find("spec.template.spec.nodeSelector: Invalid value"),
            std::string::npos);
  // What is not managed may change, also when it becomes managed.
  const Json plain = serving("{}");
  EXPECT_EQ(errors_of(validate_stateful_set_update(sized(3), plain, {})), "");
}

// A pod of a StatefulSet names no queue: it waits for the StatefulSet's workload.
Json pod_of_set() {
  return object(R"(
metadata:
  name: a-0
  namespace: ns
  annotations: {kueue.x-k8s.io/pod-suspending-parent: statefulset}
  ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: a, uid: u, controller: true}]
spec: {containers: [{name: c, image: i}]}
status: {phase: Pending}
)");
}

TEST(ServingRules, PodsOfAStatefulSetWaitForIt) {
  Json pod = pod_of_set();
  EXPECT_EQ(suspending_owner(pod), "statefulset");
  const JobContext context{.default_queue_exists = true, .owner_queues = true};
  EXPECT_TRUE(defaults_pod(pod, context));
  default_pod(pod, context);
  EXPECT_TRUE(has_scheduling_gate(pod, "kueue.x-k8s.io/admission"));
  EXPECT_EQ(to_string(pod.at("metadata").at("labels")), R"({"kueue.x-k8s.io/managed":"true"})");
  EXPECT_FALSE(find_path(pod, {"metadata", "finalizers"}));
  EXPECT_FALSE(find_path(pod, {"metadata", "annotations", "kueue.x-k8s.io/role-hash"}));
  // It gets its group later, and keeps it then.
  Json grouped = pod;
  JsonObject& annotations = ensure_path(grouped, {"metadata", "annotations"}).as_object();
  annotations["kueue.x-k8s.io/pod-group-name"] = "g";
  annotations["kueue.x-k8s.io/pod-group-total-count"] = "2";
  EXPECT_EQ(errors_of(validate_pod_update(grouped, pod, context)), "");
  const Json moved = with(grouped, {"metadata", "annotations", "kueue.x-k8s.io/pod-group-name"}, "h");
  EXPECT_NE(errors_of(validate_pod_update(moved, grouped, context)), "");
  Json running = pod;
  erase_path(running, {"spec", "schedulingGates"});
  EXPECT_NE(errors_of(validate_pod_update(grouped, running, context)), "");
}

TEST(ServingRules, APodWithoutAControllerHasNobodyToWaitFor) {
  Json pod = pod_of_set();
  erase_path(pod, {"metadata", "ownerReferences"});
  EXPECT_EQ(suspending_owner(pod), "");
  EXPECT_EQ(suspending_owner(
                with(pod_of_set(), {"metadata", "annotations", "kueue.x-k8s.io/pod-suspending-parent"}, "deployment")),
            "");
}

class ServingAdmission : public testing::Test {
 protected:
  ObjectGetter get = [](auto&&...) { return nullptr; };
  AdmissionPolicy policy{.manage_pods = true, .manage_deployments = true, .manage_stateful_sets = true};
  Json mutated(std::string_view resource, Json now) const {
    admission_rules("apps", resource).mutate(now, {get, policy});
    return now;
  }
  std::string refusal(std::string_view resource, const Json& now) const {
    return errors_of(admission_rules("apps", resource).check(now, nullptr, "", {get, policy}));
  }
  std::string warning(std::string_view resource, const Json& now) const {
    return admission_rules("apps", resource).warn(now, nullptr, {get, policy});
  }
};

TEST_F(ServingAdmission, NothingHappensWhileAFrameworkIsOff) {
  const Json queued = serving(kQueued), wrong = serving("{kueue.x-k8s.io/queue-name: Bad_Name}");
  for (const std::string_view resource : {"deployments", "statefulsets"}) {
    EXPECT_TRUE(admission_rules("apps", resource).mutates_updates);
    EXPECT_NE(mutated(resource, queued), queued);
    EXPECT_NE(refusal(resource, wrong), "");
    EXPECT_EQ(errors_of(admission_rules("apps", resource).check(wrong, nullptr, "status", {get, policy})), "");
    EXPECT_EQ(warning(resource, queued), "");
  }
  Json pod = pod_of_set();
  admission_rules("", "pods").mutate(pod, {get, policy});
  EXPECT_NE(pod, pod_of_set());
  policy = {.manage_pods = true};
  for (const std::string_view resource : {"deployments", "statefulsets"}) {
    EXPECT_EQ(mutated(resource, queued), queued);
    EXPECT_EQ(refusal(resource, wrong), "");
    EXPECT_NE(warning(resource, queued).find("integrations.frameworks does not list"), std::string::npos);
    EXPECT_EQ(warning(resource, with(queued, {"metadata", "namespace"}, "kube-system")), "");
  }
  pod = pod_of_set();
  admission_rules("", "pods").mutate(pod, {get, policy});
  EXPECT_EQ(pod, pod_of_set());
}

}  // namespace
}  // namespace berth::api::kueue::serving_rules_test
