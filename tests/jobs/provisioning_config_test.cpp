// Which checks are active, and the messages of those that are not.
#include "jobs/provisioning_config.h"

#include "jobs/provisioning_support.h"

namespace berth::jobs::provisioning_config_test {
namespace {

using namespace provisioning_test;

api::kueue::AdmissionCheck check(std::string_view parameters) {
  Json object =
      yaml("{metadata: {name: chk, generation: 4}, spec: {controllerName: kueue.x-k8s.io/provisioning-request}}");
  if (!parameters.empty()) ensure_path(object, {"spec", "parameters"}) = yaml(parameters);
  return api::kueue::decode_admission_check(object).value();
}

JsonPtr find(std::string_view name) {
  static const auto good =
      std::make_shared<const Json>(yaml("{metadata: {name: good}, spec: {provisioningClassName: k}}"));
  static const auto bad =
      std::make_shared<const Json>(yaml("{metadata: {name: bad}, spec: {provisioningClassName: ''}}"));
  return name == "good" ? good : name == "bad" ? bad : nullptr;
}

api::Condition condition_of(std::string_view parameters, const std::string& missing = {}) {
  const auto c = check(parameters);
  return active_condition(c, config_of(c, find), missing);
}

constexpr std::string_view kGood = "{apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: good}";

TEST(ProvisioningConfig, OfAnActiveCheck) {
  EXPECT_EQ((*config_of(check(kGood), find))->class_name, "k");
  const auto active = condition_of(kGood);
  EXPECT_EQ(active.type, "Active");
  EXPECT_TRUE(active.status);
  EXPECT_EQ(active.reason, "Active");
  EXPECT_EQ(active.message, "The admission check is active");
  EXPECT_EQ(active.observed_generation, 4);
}

TEST(ProvisioningConfig, ThatCannotBeUsedIsExplained) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "spec.parameters is missing: it shall name a ProvisioningRequestConfig.kueue.x-k8s.io"},
      {"{apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: good}",
       "spec.parameters names a MultiKueueConfig.kueue.x-k8s.io; its controller reads a "
       "ProvisioningRequestConfig.kueue.x-k8s.io"},
      {"{apiGroup: other.io, kind: ProvisioningRequestConfig, name: good}",
       "spec.parameters names a ProvisioningRequestConfig.other.io; its controller reads a "
       "ProvisioningRequestConfig.kueue.x-k8s.io"},
      {"{apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: none}",
       "ProvisioningRequestConfig.kueue.x-k8s.io \"none\" does not exist: create it, or correct "
       "spec.parameters.name"},
      {"{apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: bad}",
       "ProvisioningRequestConfig \"bad\": spec.provisioningClassName is empty; name the class that shall "
       "answer the "
       "requests"},
  };
  for (const auto& [parameters, message] : cases) {
    const auto inactive = condition_of(parameters);
    EXPECT_FALSE(inactive.status);
    EXPECT_EQ(inactive.reason, "BadParametersRef");
    EXPECT_EQ(inactive.message, message);
  }
}

TEST(ProvisioningConfig, HelpsNothingInAClusterThatLacksTheKinds) {
  const auto inactive = condition_of(kGood, "no such thing");
  EXPECT_FALSE(inactive.status);
  EXPECT_EQ(inactive.reason, "NotSupported");
  EXPECT_EQ(inactive.message, "no such thing");
}

}  // namespace
}  // namespace berth::jobs::provisioning_config_test
