// Which pods count on a node, and for which workload.
#include "api/kueue/pod_placement.h"

#include <gtest/gtest.h>

#include "base/yaml.h"

namespace berth::api::kueue::pod_placement_test {
namespace {

PodPlacement of(std::string_view yaml) {
  const auto pods = parse_yaml(yaml);
  EXPECT_TRUE(pods) << pods.error().message;
  return pods && pods->size() == 1 ? decode_pod_placement(pods->front()) : PodPlacement();
}

TEST(PodPlacement, APodHoldsTheNodeThatItIsBoundToOrWasSentTo) {
  EXPECT_TRUE(of("{spec: {nodeName: n1}}").holds_node());
  EXPECT_TRUE(of("{spec: {nodeSelector: {kubernetes.io/hostname: n1}}}").holds_node());
  EXPECT_FALSE(of("{spec: {}}").holds_node());
  EXPECT_FALSE(of("{spec: {nodeName: n1}, status: {phase: Succeeded}}").holds_node());
  EXPECT_FALSE(of("{spec: {schedulingGates: [{name: example.com/wait}], nodeSelector: {kubernetes.io/hostname: n1}}}")
                   .holds_node());
}

TEST(PodPlacement, APodThatAsksForPlacesIsCountedForItsWorkloadOrNotAtAll) {
  for (const char* key : {"podset-required-topology", "podset-preferred-topology", "podset-unconstrained-topology",
                          "podset-slice-required-topology", "podset-slice-required-topology-constraints"}) {
    const std::string mark = "kueue.x-k8s.io/" + std::string(key) + ": x";
    EXPECT_FALSE(of("{metadata: {annotations: {" + mark + "}}, spec: {nodeName: n1}}").holds_node()) << key;
    EXPECT_TRUE(
        of("{metadata: {annotations: {" + mark + ", kueue.x-k8s.io/workload: w}}, spec: {nodeName: n1}}").holds_node())
        << key;
  }
  EXPECT_FALSE(of("{spec: {nodeName: n1, schedulingGates: [{name: kueue.x-k8s.io/topology}]}}").holds_node());
  EXPECT_TRUE(of("{metadata: {annotations: {kueue.x-k8s.io/podset-group-name: g}}, spec: {nodeName: n1}}").holds_node())
      << "asks for nothing by itself";
}

}  // namespace
}  // namespace berth::api::kueue::pod_placement_test
