// Validation of a single queue (the flat cases of Volcano's tests), and its defaults.
#include "api/volcano/validation.h"

#include <gmock/gmock.h>

#include "api/volcano/defaulting.h"
#include "base/yaml.h"

namespace berth::api::volcano::validation_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json yaml(std::string_view text) { return parse_yaml(text)->front(); }

std::vector<std::string> errors(std::string_view text, std::string_view old = {}) {
  const Json before = old.empty() ? Json() : yaml(old);
  std::vector<std::string> out;
  for (const FieldError& error : validate_queue(yaml(text), old.empty() ? nullptr : &before))
    out.push_back(to_string(error));
  return out;
}

TEST(VolcanoQueueFields, AmountsMayBeLeftOut) {
  EXPECT_THAT(errors("{spec: {}}"), IsEmpty());
  EXPECT_THAT(errors("{spec: {deserved: {cpu: 1}}}"), IsEmpty());
  EXPECT_THAT(errors("{spec: {capability: {cpu: 1}, deserved: {memory: 1Gi}, guarantee: {resource: {memory: 1Gi}}}}"),
              IsEmpty());
}

TEST(VolcanoQueueFields, GuaranteeIsAtMostDeservedAndThatAtMostCapability) {
  EXPECT_THAT(
      errors("{spec: {guarantee: {resource: {cpu: 2}}}}"),
      ElementsAre("spec.deserved.cpu: Required value: the queue guarantees 2 of cpu: set deserved to at least that"));
  EXPECT_THAT(errors("{spec: {deserved: {cpu: 1}, guarantee: {resource: {cpu: 2}}}}"),
              ElementsAre("spec.deserved.cpu: Invalid value: \"1\": must be at least the guarantee of 2: raise it or "
                          "lower the guarantee"));
  EXPECT_THAT(errors("{spec: {capability: {cpu: 1500m}, deserved: {cpu: 2}}}"),
              ElementsAre("spec.deserved.cpu: Invalid value: \"2\": must be at most the capability of 1500m: lower it "
                          "or raise the capability"));
}

TEST(VolcanoQueueFields, AmountsAreLegalAndNotNegative) {
  EXPECT_THAT(errors("{spec: {capability: {cpu: -10}}}"),
              ElementsAre("spec.capability.cpu: Invalid value: -10: must be greater than or equal to 0"));
  EXPECT_THAT(errors("{spec: {deserved: {cpu: -5}}}"), ElementsAre(HasSubstr("spec.deserved.cpu: Invalid value: -5")));
  EXPECT_THAT(errors("{spec: {guarantee: {resource: {cpu: -2}}}}"),
              ElementsAre(HasSubstr("spec.guarantee.resource.cpu: Invalid value: -2"),
                          HasSubstr("spec.deserved.cpu: Required value")));
  EXPECT_THAT(errors("{spec: {capability: {cpu: ten}}}"),
              ElementsAre(HasSubstr("spec.capability.cpu: Invalid value: \"ten\"")));
  EXPECT_THAT(errors("{spec: {capability: {nvidia.com/gpu: 500m, cpu: 500m}}}"),
              ElementsAre(HasSubstr("spec.capability.nvidia.com/gpu: Invalid value: \"500m\": must be an integer")));
}

TEST(VolcanoQueueFields, PeopleWriteOpenOrClosed) {
  for (const char* state : {"''", "Open", "Closed"})
    EXPECT_THAT(errors("{status: {state: " + std::string(state) + "}}"), IsEmpty());
  EXPECT_THAT(errors("{status: {state: wrong}}"),
              ElementsAre("status.state: Unsupported value: \"wrong\": supported values: \"Open\", \"Closed\""));
  EXPECT_THAT(errors("{status: {state: Closed}}", "{status: {state: Open}}"), IsEmpty());
  EXPECT_THAT(errors("{status: {state: Open}}", "{status: {state: Closed}}"), IsEmpty());
  EXPECT_THAT(errors("{status: {state: wrong}}", "{status: {state: Open}}"), ElementsAre(HasSubstr("status.state")));
}

// Volcano refuses every change of the spec of such a queue; Berth allows a change that leaves the state as it is.
TEST(VolcanoQueueFields, TheSpecOfAClosingQueueMayChange) {
  for (const char* state : {"Closing", "Unknown"}) {
    const std::string status = "status: {state: " + std::string(state) + "}}";
    EXPECT_THAT(errors("{spec: {weight: 2}, " + status, "{spec: {weight: 1}, " + status), IsEmpty());
    EXPECT_THAT(errors("{spec: {weight: 2}, " + status, "{status: {state: Open}}"),
                ElementsAre(HasSubstr("status.state")));
  }
}

std::string annotated(std::string_view path, std::string_view weights) {
  return "{metadata: {annotations: {volcano.sh/hierarchy: '" + std::string(path) +
         "', volcano.sh/hierarchy-weights: '" + std::string(weights) + "'}}}";
}

TEST(VolcanoQueueFields, HierarchyAnnotationsBelongTogether) {
  EXPECT_THAT(errors(annotated("root/a/b", "1/2/0.5")), IsEmpty());
  EXPECT_THAT(errors(annotated("root/a", "1/1e-3")), IsEmpty());
  EXPECT_THAT(
      errors(annotated("root/a", "1/2/3")),
      ElementsAre(HasSubstr("must have one weight for each of the 2 parts of the hierarchy \"root/a\", has 3")));
  EXPECT_THAT(errors("{metadata: {annotations: {volcano.sh/hierarchy: root/a}}}"), ElementsAre(HasSubstr("has 1")));
  for (const char* weight : {"-1", "a", "", "0", "1.2.3", "1e", "0.0"})
    EXPECT_THAT(errors(annotated("root/a", "1/" + std::string(weight))),
                ElementsAre(HasSubstr("must be a number above 0")))
        << weight;
}

TEST(VolcanoDefaults, OfAQueue) {
  Json queue = yaml(
      "{metadata: {annotations: {volcano.sh/hierarchy: a/b, volcano.sh/hierarchy-weights: 2/3}}, spec: {weight: 0}}");
  default_queue(queue);
  EXPECT_EQ(canonical_json(queue),
            R"({"metadata":{"annotations":{"volcano.sh/hierarchy":"root/a/b","volcano.sh/hierarchy-weights":"1/2/3"}},)"
            R"("spec":{"reclaimable":true,"weight":1}})");
  Json said = yaml(
      "{metadata: {annotations: {volcano.sh/hierarchy: root/b, volcano.sh/hierarchy-weights: 2/3}}, spec: {weight: 5, "
      "reclaimable: false}}");
  const Json before = said;
  default_queue(said);
  EXPECT_TRUE(json_equal(said, before));
}

TEST(VolcanoDefaults, OfAPodGroup) {
  Json group = yaml("{spec: {queue: default}}");
  default_pod_group(group, "");
  EXPECT_EQ(string_at(group, {"spec", "queue"}), "default");
  default_pod_group(group, "team");
  EXPECT_EQ(string_at(group, {"spec", "queue"}), "team");
  default_pod_group(group, "other");
  EXPECT_EQ(string_at(group, {"spec", "queue"}), "team");
}

TEST(VolcanoPodGroupFields, MinResourcesAreNotNegative) {
  EXPECT_TRUE(validate_pod_group(yaml("{spec: {minResources: {cpu: 100m, nvidia.com/gpu: 2}}}")).empty());
  const auto errors = validate_pod_group(yaml("{spec: {minResources: {cpu: '-100'}}}"));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(to_string(errors[0]), "spec.minResources.cpu: Invalid value: \"-100\": must be greater than or equal to 0");
}

TEST(VolcanoPodGroupFields, OneWayOfSayingTheTier) {
  EXPECT_TRUE(validate_pod_group(yaml("{spec: {networkTopology: {highestTierAllowed: 1}}}")).empty());
  const auto both = validate_pod_group(
      yaml("{spec: {subGroupPolicy: [{networkTopology: {highestTierAllowed: 1, highestTierName: rack}}]}}"));
  ASSERT_EQ(both.size(), 1u);
  EXPECT_THAT(to_string(both[0]), HasSubstr("spec.subGroupPolicy[0].networkTopology.highestTierName: Forbidden"));
}

}  // namespace
}  // namespace berth::api::volcano::validation_test
