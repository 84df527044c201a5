// Where amounts can stand in a pod's spec.
#include "api/core/pod_amounts.h"

#include <gtest/gtest.h>

#include "base/yaml.h"

namespace berth::api::pod_amounts_test {
namespace {

std::string errors(std::string_view yaml) {
  FieldErrors found;
  check_pod_amounts(parse_yaml(yaml).value().front(), "spec", found);
  return found.empty() ? "" : to_string(found);
}

TEST(PodAmounts, AreJudgedWhereverTheyStand) {
  const std::string negative = "Invalid value: \"-1\": must be greater than or equal to 0";
  const std::string pods = "Invalid value: \"pods\": the key is reserved for internal kueue use";
  EXPECT_EQ(errors("{containers: [{resources: {requests: {cpu: 1}, limits: {cpu: 0}}}], overhead: {cpu: 1m}}"), "");
  for (const std::string list : {"requests", "limits"}) {
    const std::string of = ".resources." + list;
    for (const std::string kind : {"containers", "initContainers", "ephemeralContainers"}) {
      EXPECT_EQ(errors("{" + kind + ": [{}, {resources: {" + list + ": {cpu: '-1'}}}]}"),
                "spec." + kind + "[1]" + of + "[cpu]: " + negative);
      EXPECT_EQ(errors("{" + kind + ": [{resources: {" + list + ": {pods: 2}}}]}"),
                "spec." + kind + "[0]" + of + "[pods]: " + pods);
    }
    EXPECT_EQ(errors("{resources: {" + list + ": {cpu: '-1'}}}"), "spec" + of + "[cpu]: " + negative);
    EXPECT_EQ(errors("{resources: {" + list + ": {pods: 2}}}"), "spec" + of + "[pods]: " + pods);
  }
  EXPECT_EQ(errors("{overhead: {cpu: '-1'}}"), "spec.overhead[cpu]: " + negative);
  EXPECT_EQ(errors("{overhead: {pods: 2}}"), "spec.overhead[pods]: " + pods);
  EXPECT_EQ(errors("{overhead: {cpu: -1}}"),
            "spec.overhead[cpu]: Invalid value: -1: must be greater than or equal to 0");
}

}  // namespace
}  // namespace berth::api::pod_amounts_test
