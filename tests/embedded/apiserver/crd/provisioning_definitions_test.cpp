// The CRDs of ProvisioningRequest, ProvisioningRequestConfig and AdmissionCheck: limits, and which fields may change.
#include <gmock/gmock.h>

#include "base/embedded.h"
#include "embedded/apiserver/crd/crd.h"
#include "embedded/apiserver/schema/support.h"

namespace berth::apiserver::provisioning_definitions_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ResourcePtr resource(std::string_view kind) {
  for (const embedded::File& file : embedded::crds()) {
    const Json crd = schema_support::yaml(file.content);
    if (string_at(crd, {"spec", "names", "kind"}) == kind) return resources_of_crd(crd)->at(0);
  }
  ADD_FAILURE() << "no CRD of kind " << kind;
  return nullptr;
}

std::vector<std::string> errors(std::string_view kind, const Json& now, const Json* old = nullptr) {
  const ResourcePtr definition = resource(kind);
  return schema_support::texts(validate_custom_object(now, old, *definition, ""));
}

Json with(Json object, std::initializer_list<std::string_view> path, Json value) {
  ensure_path(object, path) = std::move(value);
  return object;
}

Json strings(int count, std::string_view value) {
  Json map = JsonObject();
  for (int i = 0; i < count; ++i) map.as_object()["k" + std::to_string(i)] = value;
  return map;
}

Json request() {
  return schema_support::yaml(R"(
apiVersion: autoscaling.x-k8s.io/v1
kind: ProvisioningRequest
metadata: {name: r, namespace: ns}
spec:
  provisioningClassName: c
  parameters: {p: "1"}
  podSets: [{count: 2, podTemplateRef: {name: t}}]
)");
}

TEST(ProvisioningRequestDefinition, BoundsWhatIsAskedFor) {
  constexpr std::string_view kKind = "ProvisioningRequest";
  EXPECT_THAT(errors(kKind, request()), IsEmpty());
  EXPECT_THAT(errors(kKind, with(request(), {"spec", "podSets"}, JsonArray())),
              Contains(HasSubstr("spec.podSets in body should have at least 1 items")));
  EXPECT_THAT(errors(kKind, with(request(), {"spec", "podSets"},
                                 schema_support::yaml("[{count: 0, podTemplateRef: {name: t}}]"))),
              Contains(HasSubstr("spec.podSets[0].count in body should be greater than or equal to 1")));
  EXPECT_THAT(errors(kKind, with(request(), {"spec", "parameters"}, strings(100, "v"))), IsEmpty());
  EXPECT_THAT(errors(kKind, with(request(), {"spec", "parameters"}, strings(101, "v"))),
              Contains(HasSubstr("spec.parameters: Too many")));
  EXPECT_THAT(errors(kKind, with(request(), {"spec", "parameters"}, strings(1, std::string(256, 'x')))),
              Contains(HasSubstr("spec.parameters.k0: Too long")));
}

TEST(ProvisioningRequestDefinition, LetsNothingOfTheSpecChange) {
  const Json old = request();
  for (const auto& changed :
       {with(request(), {"spec", "provisioningClassName"}, "d"),
        with(request(), {"spec", "parameters"}, strings(1, "v")),
        with(request(), {"spec", "podSets"}, schema_support::yaml("[{count: 3, podTemplateRef: {name: t}}]"))}) {
    EXPECT_THAT(errors("ProvisioningRequest", changed, &old), Contains(HasSubstr("Value is immutable")))
        << to_string(changed);
  }
  EXPECT_THAT(errors("ProvisioningRequest", with(request(), {"metadata", "labels"}, strings(1, "v")), &old), IsEmpty());
}

TEST(ProvisioningRequestConfigDefinition, FillsInTheRetriesAndBoundsTheRest) {
  constexpr std::string_view kKind = "ProvisioningRequestConfig";
  Json config = schema_support::yaml(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ProvisioningRequestConfig
metadata: {name: c}
spec: {provisioningClassName: k}
)");
  EXPECT_THAT(errors(kKind, config), IsEmpty());
  Json filled = config;
  apply_defaults(filled, *resource(kKind)->schema);
  EXPECT_EQ(canonical_json(*find_path(filled, {"spec", "retryStrategy"})),
            R"({"backoffBaseSeconds":60,"backoffLimitCount":3,"backoffMaxSeconds":1800})");
  filled = with(config, {"spec", "retryStrategy"}, schema_support::yaml("{backoffLimitCount: 1}"));
  apply_defaults(filled, *resource(kKind)->schema);
  EXPECT_EQ(canonical_json(*find_path(filled, {"spec", "retryStrategy"})),
            R"({"backoffBaseSeconds":60,"backoffLimitCount":1,"backoffMaxSeconds":1800})");

  EXPECT_THAT(errors(kKind, with(config, {"spec", "provisioningClassName"}, "")),
              Contains(HasSubstr("spec.provisioningClassName")));
  EXPECT_THAT(errors(kKind, with(config, {"spec", "parameters"}, strings(101, "v"))),
              Contains(HasSubstr("spec.parameters: Too many")));
  EXPECT_THAT(errors(kKind, with(config, {"spec", "managedResources"}, schema_support::yaml("[a, a]"))),
              Contains(HasSubstr("spec.managedResources[1]: Duplicate value")));
  EXPECT_THAT(errors(kKind, with(config, {"spec", "podSetMergePolicy"}, "All")),
              Contains(HasSubstr("spec.podSetMergePolicy: Unsupported value")));
  EXPECT_THAT(
      errors(kKind, with(config, {"spec", "podSetUpdates"},
                         schema_support::yaml("{nodeSelector: [{key: 'a b', valueFromProvisioningClassDetail: d}]}"))),
      Contains(HasSubstr("spec.podSetUpdates.nodeSelector[0].key")));
  EXPECT_THAT(errors(kKind, with(config, {"spec", "podSetUpdates"},
                                 schema_support::yaml("{nodeSelector: [{key: a, valueFromProvisioningClassDetail: d}, "
                                                      "{key: a, valueFromProvisioningClassDetail: e}]}"))),
              Contains(HasSubstr("Duplicate value")));
}

TEST(AdmissionCheckDefinition, KeepsItsController) {
  const Json old = schema_support::yaml(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: a}
spec:
  controllerName: x
  parameters: {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: c}
)");
  EXPECT_THAT(errors("AdmissionCheck", old), IsEmpty());
  EXPECT_THAT(errors("AdmissionCheck", with(old, {"spec", "controllerName"}, "y"), &old),
              Contains(HasSubstr("field is immutable")));
  EXPECT_THAT(errors("AdmissionCheck", with(old, {"spec", "parameters", "name"}, Json(std::string(64, 'n')))),
              Contains(HasSubstr("spec.parameters.name: Too long")));
}

}  // namespace
}  // namespace berth::apiserver::provisioning_definitions_test
