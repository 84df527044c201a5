#include "jobs/pods/group_terms.h"

#include <gtest/gtest.h>

#include "jobs/pods/pods_support.h"

namespace berth::jobs::group_terms_test {
namespace {

using namespace pods_support;

constexpr std::string_view kTen = R"({spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "10"}}}]}})";

// The cpus of the pod sets of a group of a pod of one and a pod of ten with these roles, in their order.
std::vector<std::string> cpus(const std::string& one, const std::string& ten, bool by_shape) {
  const auto role = [](const std::string& name) {
    return "{metadata: {annotations: {kueue.x-k8s.io/role-hash: " + name + "}}}";
  };
  JobFacts with = facts();
  with.gates.group_order_by_shape = by_shape;
  const PodPlan plan =
      reconcile_group("ns", "g", {member("a", 2, {role(one)}), member("b", 2, {kTen, role(ten)})}, with, kNow);
  std::vector<std::string> out;
  const Json w = all<CreateWorkload>(plan).at(0).object;
  for (const Json& each : array_at(w, {"spec", "podSets"})) {
    const Json& container = array_at(each, {"template", "spec", "containers"}).front();
    out.emplace_back(string_at(container, {"resources", "requests", "cpu"}));
  }
  return out;
}

TEST(GroupTerms, PodSetsStandInTheOrderOfTheirShapes) {
  EXPECT_EQ(cpus("x", "y", true), cpus("y", "x", true)) << "names of one's own do not decide";
  EXPECT_EQ(cpus("x", "y", false), (std::vector<std::string>{"1", "10"}));
  EXPECT_EQ(cpus("y", "x", false), (std::vector<std::string>{"10", "1"}));
}

}  // namespace
}  // namespace berth::jobs::group_terms_test
