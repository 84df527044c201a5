// The values of --nominal-quota and of the limits: what they become, and what is said of bad ones.
#include "cli/queues/quota_flags.h"

#include <gtest/gtest.h>

namespace berth::cli::queues::quota_flags_test {
namespace {

constexpr const char* kFlag = "--nominal-quota";

std::vector<FlavorAmounts> amounts(const std::vector<std::string>& values) {
  auto parsed = parse_amounts(kFlag, values);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return parsed.value_or(std::vector<FlavorAmounts>());
}

TEST(QuotaFlags, NameFlavorsAndTheirResources) {
  const std::vector<FlavorAmounts> expected = {{"alpha", {{"cpu", "4"}, {"memory", "8Gi"}}},
                                               {"beta", {{"nvidia.com/gpu", "2"}}}};
  EXPECT_EQ(amounts({"alpha:cpu=4;memory=8Gi,beta:nvidia.com/gpu=2"}), expected);
  EXPECT_EQ(amounts({"alpha:cpu=4", "alpha:memory=8Gi", "beta:nvidia.com/gpu=2"}), expected) << "repeated flags add up";
  EXPECT_TRUE(amounts({}).empty());
}

TEST(QuotaFlags, TellWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "expected FLAVOR:RESOURCE=QUANTITY"},
      {"beta", "expected FLAVOR:RESOURCE=QUANTITY"},
      {"beta:", "expected FLAVOR:RESOURCE=QUANTITY"},
      {":cpu=1", "expected FLAVOR:RESOURCE=QUANTITY"},
      {"beta:cpu", "expected FLAVOR:RESOURCE=QUANTITY"},
      {"beta:=1", "expected FLAVOR:RESOURCE=QUANTITY"},
      {"beta:cpu=1;", "expected FLAVOR:RESOURCE=QUANTITY"},
      {"beta:cpu=1,", "expected FLAVOR:RESOURCE=QUANTITY"},
      {"beta:cpu=x", "expected a quantity of cpu"},
      {"beta:cpu=", "expected a quantity of cpu"},
      {"beta:cpu=-1", "expected a quantity of cpu that is not negative"},
      {"beta:cpu=1;cpu=2", "expected cpu once for flavor beta"}};
  for (const auto& [value, expected] : wrong) {
    const auto parsed = parse_amounts(kFlag, {value});
    ASSERT_FALSE(parsed) << value;
    EXPECT_EQ(parsed.error().message.find("--nominal-quota \""), 0U) << parsed.error().message;
    EXPECT_NE(parsed.error().message.find(expected), std::string::npos) << value << ": " << parsed.error().message;
  }
}

TEST(QuotaFlags, FlavorsWithTheSameResourcesShareAGroup) {
  const auto groups = resource_groups(amounts({"alpha:cpu=4;memory=8Gi,gpu:nvidia.com/gpu=8,beta:memory=4Gi;cpu=2"}),
                                      amounts({"alpha:cpu=1"}), amounts({"beta:memory=0"}));
  ASSERT_TRUE(groups) << groups.error().message;
  const Json expected = parse_json(R"([
    {"coveredResources": ["cpu", "memory"], "flavors": [
      {"name": "alpha", "resources": [{"name": "cpu", "nominalQuota": "4", "borrowingLimit": "1"},
                                      {"name": "memory", "nominalQuota": "8Gi"}]},
      {"name": "beta", "resources": [{"name": "cpu", "nominalQuota": "2"},
                                     {"name": "memory", "nominalQuota": "4Gi", "lendingLimit": "0"}]}]},
    {"coveredResources": ["nvidia.com/gpu"], "flavors": [
      {"name": "gpu", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "8"}]}]}])")
                            .value();
  EXPECT_TRUE(json_equal(Json(*groups), expected)) << to_pretty_string(Json(*groups));
}

TEST(QuotaFlags, ALimitAloneHasNoQuota) {
  const auto groups = resource_groups({}, amounts({"beta:cpu=1"}), {});
  ASSERT_TRUE(groups);
  EXPECT_EQ(string_at(array_at(array_at(groups->front(), {"flavors"})[0], {"resources"})[0], {"nominalQuota"}), "0");
}

TEST(QuotaFlags, FlavorsThatShareSomeResourcesFitIntoNoGroup) {
  const auto groups = resource_groups(amounts({"alpha:cpu=4;memory=8Gi,beta:cpu=2"}), {}, {});
  ASSERT_FALSE(groups);
  EXPECT_EQ(groups.error().message,
            "flavors alpha and beta both have cpu: expected the same resources for both, or none in common");
}

}  // namespace
}  // namespace berth::cli::queues::quota_flags_test
