// Validation of custom objects: order, scale paths, embedded resources, and when rules are not run.
#include <gmock/gmock.h>

#include "embedded/apiserver/crd/crd.h"
#include "embedded/apiserver/schema/support.h"

namespace berth::apiserver::validate_object_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kSchema = R"(
type: object
properties:
  spec:
    type: object
    properties:
      n: {type: integer, minimum: 1}
      s: {type: string, maxLength: 3}
      set: {type: array, maxItems: 5, x-kubernetes-list-type: set, items: {type: string, maxLength: 5}}
      pod: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
    x-kubernetes-validations: [{rule: "!has(self.s) || self.s != 'no'", message: never no}]
  status: {type: object, properties: {replicas: {type: integer}, pending: {type: integer}}}
)";
constexpr std::string_view kNotChecked =
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing "
    "errors to complete validation";

std::vector<std::string> errors(std::string_view object, std::string_view old = "", std::string_view subresource = "") {
  ResourceInfo resource;
  resource.schema = schema_support::schema(kSchema);
  resource.has_scale = true;
  resource.scale_spec_path = ".spec.n";
  resource.scale_status_path = ".status.replicas";
  Json now = schema_support::yaml(object);
  if (old.empty()) return schema_support::texts(validate_custom_object(now, nullptr, resource, subresource));
  Json before = schema_support::yaml(old);
  return schema_support::texts(validate_custom_object(now, &before, resource, subresource));
}

TEST(ValidateCustomObject, RunsRulesBesideErrorsThatHideNothing) {
  EXPECT_THAT(errors("{spec: {n: 0, s: no}}"),
              ElementsAre("spec.n: Invalid value: 0: spec.n in body should be greater than or equal to 1",
                          "spec: Invalid value: never no"));
}

TEST(ValidateCustomObject, SaysThatRulesWereNotRun) {
  EXPECT_THAT(errors("{spec: {s: long text}}"),
              ElementsAre("spec.s: Too long: may not be more than 3 bytes", std::string(kNotChecked)));
}

TEST(ValidateCustomObject, ReadsTheScaleAsANumber) {
  EXPECT_THAT(
      errors("{spec: {n: 2.5}}"),
      ElementsAre("spec.n: Invalid value: \"number\": spec.n in body must be of type integer: \"number\"",
                  "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in spec.n",
                  ".spec.n: Invalid value: 0: .spec.n accessor error: 2.5 is of the type float64, expected int64",
                  std::string(kNotChecked)));
  EXPECT_THAT(errors("{spec: {n: 3000000000}}"),
              ElementsAre(".spec.n: Invalid value: 3000000000: should be less than or equal to 2147483647"));
}

TEST(ValidateCustomObject, ChecksStatusAloneWhenThatIsWritten) {
  EXPECT_THAT(
      errors("{spec: {n: 0}, status: {pending: x}}", "{spec: {n: 0}}", "status"),
      ElementsAre("status.pending: Invalid value: \"string\": pending in body must be of type integer: \"string\"",
                  std::string(kNotChecked)));
}

TEST(ValidateCustomObject, LetsDuplicatesStandThatWereThere) {
  EXPECT_THAT(errors("{spec: {set: [a, a]}}"), ElementsAre("spec.set[1]: Duplicate value: \"a\""));
  EXPECT_THAT(errors("{spec: {set: [a, a], n: 2}}", "{spec: {set: [a, a]}}"), IsEmpty());
}

TEST(ValidateCustomObject, WantsEmbeddedResourcesToSayWhatTheyAre) {
  EXPECT_THAT(errors("{spec: {pod: {kind: Pod}}}"),
              ElementsAre("spec.pod.apiVersion: Required value: must not be empty", std::string(kNotChecked)));
  EXPECT_THAT(errors("{spec: {pod: {kind: Pod, apiVersion: v1}}}"), IsEmpty());
}

}  // namespace
}  // namespace berth::apiserver::validate_object_test
