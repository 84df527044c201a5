// ProvisioningRequests and their configuration as values.
#include "api/autoscaling/provisioning_request.h"

#include <gtest/gtest.h>

#include "api/kueue/provisioning_request_config.h"
#include "api/kueue/types.h"
#include "base/yaml.h"

namespace berth::api::provisioning_request_test {
namespace {

Json yaml(std::string_view text) { return parse_yaml(text).value().front(); }

TEST(ProvisioningRequest, IsWrittenAsItIsRead) {
  const Json object = yaml(R"(
apiVersion: autoscaling.x-k8s.io/v1
kind: ProvisioningRequest
metadata: {name: r, namespace: ns, labels: {a: b}}
spec:
  podSets: [{podTemplateRef: {name: t1}, count: 3}, {podTemplateRef: {name: t2}, count: 1}]
  provisioningClassName: c.example.com
  parameters: {p: "1"}
)");
  EXPECT_TRUE(
      json_equal(autoscaling::encode_provisioning_request(autoscaling::decode_provisioning_request(object)), object));
}

TEST(ProvisioningRequest, HasItsConditionsAndDetails) {
  const auto request = autoscaling::decode_provisioning_request(yaml(R"(
metadata: {name: r}
status:
  conditions: [{type: Provisioned, status: "True", reason: R, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]
  provisioningClassDetails: {pool: a}
)"));
  EXPECT_TRUE(is_true(request.conditions, autoscaling::kProvisioned));
  EXPECT_EQ(request.details, (StringMap{{"pool", "a"}}));
}

TEST(ProvisioningRequestConfig, TakesTheDefaultsOfItsDefinition) {
  const auto config =
      kueue::decode_provisioning_request_config(yaml("{metadata: {name: c}, spec: {provisioningClassName: k}}"))
          .value();
  EXPECT_EQ(config.class_name, "k");
  EXPECT_EQ(config.retry.limit, 3);
  EXPECT_EQ(config.retry.base_seconds, 60);
  EXPECT_EQ(config.retry.max_seconds, 1800);
  EXPECT_EQ(config.merge_policy, kueue::PodSetMergePolicy::kNone);
}

TEST(ProvisioningRequestConfig, ReadsEveryField) {
  const auto config = kueue::decode_provisioning_request_config(yaml(R"(
metadata: {name: c}
spec:
  provisioningClassName: k
  parameters: {p: "1"}
  managedResources: [nvidia.com/gpu]
  retryStrategy: {backoffLimitCount: 2, backoffBaseSeconds: 5, backoffMaxSeconds: 7}
  podSetUpdates: {nodeSelector: [{key: pool, valueFromProvisioningClassDetail: d}]}
  podSetMergePolicy: IdenticalWorkloadSchedulingRequirements
)"))
                          .value();
  EXPECT_EQ(config.parameters, (StringMap{{"p", "1"}}));
  EXPECT_EQ(config.managed_resources, std::vector<std::string>{"nvidia.com/gpu"});
  EXPECT_EQ(config.retry.limit, 2);
  EXPECT_EQ(config.retry.base_seconds, 5);
  EXPECT_EQ(config.retry.max_seconds, 7);
  ASSERT_EQ(config.node_selector.size(), 1u);
  EXPECT_EQ(config.node_selector[0].key, "pool");
  EXPECT_EQ(config.node_selector[0].detail, "d");
  EXPECT_EQ(config.merge_policy, kueue::PodSetMergePolicy::kIdenticalSchedulingNeeds);
}

std::string refusal(std::string_view spec) {
  Json object = yaml("{metadata: {name: c}}");
  object.as_object()["spec"] = yaml(spec);
  const auto config = kueue::decode_provisioning_request_config(object);
  return config ? "" : config.error().message;
}

TEST(ProvisioningRequestConfig, ThatCannotMakeAValidRequestSaysWhichField) {
  EXPECT_EQ(refusal("{provisioningClassName: ''}"),
            "ProvisioningRequestConfig \"c\": spec.provisioningClassName is empty; name the class that shall "
            "answer the "
            "requests");
  EXPECT_EQ(refusal("{provisioningClassName: k, podSetMergePolicy: All}"),
            "ProvisioningRequestConfig \"c\": spec.podSetMergePolicy is \"All\"; IdenticalPodTemplates and "
            "IdenticalWorkloadSchedulingRequirements are known");
  EXPECT_EQ(refusal("{provisioningClassName: k, parameters: {p: \"" + std::string(256, 'x') + "\"}}"),
            "ProvisioningRequestConfig \"c\": spec.parameters[p] is longer than the 255 characters that a "
            "request takes");
  std::string many = "{provisioningClassName: k, parameters: {";
  for (int i = 0; i < 101; ++i) many += "p" + std::to_string(i) + ": v, ";
  EXPECT_EQ(refusal(many + "}}"),
            "ProvisioningRequestConfig \"c\": spec.parameters has 101 entries; a request takes 100");
}

TEST(AdmissionCheck, NamesItsParameters) {
  const auto check = kueue::decode_admission_check(yaml(R"(
metadata: {name: a}
spec:
  controllerName: kueue.x-k8s.io/provisioning-request
  parameters: {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: c}
)"))
                         .value();
  ASSERT_TRUE(check.parameters);
  EXPECT_EQ(check.parameters->api_group, "kueue.x-k8s.io");
  EXPECT_EQ(check.parameters->kind, "ProvisioningRequestConfig");
  EXPECT_EQ(check.parameters->name, "c");
  EXPECT_FALSE(kueue::decode_admission_check(yaml("{metadata: {name: a}, spec: {controllerName: x}}"))->parameters);
}

}  // namespace
}  // namespace berth::api::provisioning_request_test
