// The annotation kueue.x-k8s.io/podset-topology-spreading. Facts: KEP-13746 and the checks of Kueue 0.20.
#include "api/kueue/topology_spreading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.h"

namespace berth::api::kueue::topology_spreading_test {
namespace {

using testing::HasSubstr;

TEST(TopologySpreading, IsRead) {
  const auto read = parse_topology_spreading(
      R"({"workloadLabelSelectors": [{"key": "app", "operator": "In", "values": ["a", "b"]}], "rules": [
          {"topologyKey": "zone", "maxShareAllowingPlacement": "0.45"},
          {"topologyKey": "x.io/rack", "maxShareAllowingPlacement": 0.25, "enforcementMode": "Preferred"}]})");
  ASSERT_TRUE(read) << read.error().message;
  const TopologySpreading expected{"", "app", {"a", "b"}, {{"zone", 450, false}, {"x.io/rack", 250, true}}};
  EXPECT_EQ(*read, expected);
  EXPECT_TRUE(read->counts({{"app", "b"}}));
  EXPECT_FALSE(read->counts({{"app", "c"}}));
  EXPECT_FALSE(read->counts({{"other", "a"}}));
}

TEST(TopologySpreading, CountsTheWorkloadsOfTheJobByDefault) {
  const auto read = parse_topology_spreading(R"({"rules": [{"topologyKey": "z", "maxShareAllowingPlacement": "1m"}]})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->label, "kueue.x-k8s.io/job-uid");
  EXPECT_TRUE(read->values.empty());
  EXPECT_EQ(read->rules[0].most_share, 1);
}

std::string rules(std::string_view rule) { return "{\"rules\": [" + std::string(rule) + "]}"; }

TEST(TopologySpreading, OtherwiseItSaysWhatIsExpected) {
  const std::string good = R"({"topologyKey": "z", "maxShareAllowingPlacement": "0.5"})";
  const auto selector = [&](std::string_view text) {
    return R"({"workloadLabelSelectors": [)" + std::string(text) + R"(], "rules": [)" + good + "]}";
  };
  const std::pair<std::string, std::string_view> cases[] = {
      {"x", "must be a JSON object"},
      {"[]", "must be a JSON object"},
      {"{}", "rules must have one or two entries"},
      {rules(""), "rules must have one or two entries"},
      {rules(good + "," + good + "," + good), "rules must have one or two entries"},
      {rules(good + "," + good), "different topology keys"},
      {rules(R"({"maxShareAllowingPlacement": "0.5"})"), "rules[0].topologyKey must be the label of a level"},
      {rules(R"({"topologyKey": "z"})"), "rules[0].maxShareAllowingPlacement must be greater than 0 and less than 1"},
      {rules(R"({"topologyKey": "z", "maxShareAllowingPlacement": "0"})"), "greater than 0"},
      {rules(R"({"topologyKey": "z", "maxShareAllowingPlacement": "1"})"), "less than 1"},
      {rules(R"({"topologyKey": "z", "maxShareAllowingPlacement": 45})"), "less than 1"},
      {rules(R"({"topologyKey": "z", "maxShareAllowingPlacement": "x"})"), "less than 1"},
      {rules(R"({"topologyKey": "z", "maxShareAllowingPlacement": "0.5", "enforcementMode": "Soft"})"),
       "enforcementMode must be Required or Preferred"},
      {selector(R"({"key": "a", "operator": "Exists"})"), "operator must be In"},
      {selector(R"({"key": "a b", "operator": "In", "values": ["a"]})"), "key must be a label"},
      {selector(R"({"key": "a", "operator": "In"})"), "values must have at least one value"},
      {selector(R"({"key": "a", "operator": "In", "values": ["a"]}, {"key": "b", "operator": "In", "values": ["a"]})"),
       "must have one requirement"}};
  for (const auto& [text, why] : cases) {
    const auto read = parse_topology_spreading(text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr(std::string(why))) << text;
  }
}

std::string refusal(const Json& now, const Json* before = nullptr) {
  FieldErrors errors;
  check_topology_spreading(now.get_object(), before == nullptr ? nullptr : &before->get_object(),
                           "metadata.annotations", errors);
  return to_string(errors);
}

Json annotations(std::string_view yaml) { return parse_yaml(yaml).value().front(); }

TEST(TopologySpreading, NeedsARequiredTopology) {
  const std::string rule =
      R"(kueue.x-k8s.io/podset-topology-spreading: '{"rules": [{"topologyKey": "z", "maxShareAllowingPlacement": "0.5"}]}')";
  EXPECT_EQ(refusal(annotations("{a: b}")), "");
  EXPECT_EQ(refusal(annotations("{kueue.x-k8s.io/podset-required-topology: z, " + rule + "}")), "");
  const Json alone = annotations("{" + rule + "}");
  EXPECT_THAT(refusal(alone),
              HasSubstr("metadata.annotations[kueue.x-k8s.io/podset-topology-spreading]: Forbidden: may "
                        "only be set together with kueue.x-k8s.io/podset-required-topology"));
  EXPECT_EQ(refusal(alone, &alone), "") << "it was so before";
  const Json broken =
      annotations("{kueue.x-k8s.io/podset-required-topology: z, kueue.x-k8s.io/podset-topology-spreading: '{}'}");
  EXPECT_THAT(refusal(broken), HasSubstr("rules must have one or two entries"));
  EXPECT_THAT(refusal(broken, &alone), HasSubstr("rules must have one or two entries"));
}

}  // namespace
}  // namespace berth::api::kueue::topology_spreading_test
