// kueue_pod_scheduling_gate_removal_seconds of a whole controller: the admission gates of single pods and of groups,
// each told once.
#include <gtest/gtest.h>

#include "controller/metrics_fixture.h"
#include "controller/pods_fixture.h"

namespace berth::controller::gate_removal_test {
namespace {

struct Counted {
  Metrics registry;
  ControllerMetrics metrics{registry, {}};
};

// `Counted` is made first: the controller of PodsTest leads from its beginning.
class GateRemoval : protected Counted, public PodsTest {
 protected:
  GateRemoval() : PodsTest({}, told_to(metrics)) {}
  static ControllerOptions told_to(ControllerMetrics& metrics) {
    ControllerOptions with = managing_pods();
    with.metrics = &metrics;
    return with;
  }
  std::string count() const {
    return metrics_fixture::lines_of(registry, "kueue_pod_scheduling_gate_removal_seconds_count");
  }
  const std::string alone = R"({cluster_queue="cq",is_group="false",name="kueue.x-k8s.io/admission"} )";
  const std::string grouped = R"({cluster_queue="cq",is_group="true",name="kueue.x-k8s.io/admission"} )";
};

TEST_F(GateRemoval, IsToldOfSinglePodsAndOfGroups) {
  pod("p");
  pass();
  EXPECT_FALSE(gated("p"));
  EXPECT_EQ(count(), alone + "1\n");
  member("a", "g", 2);
  member("b", "g", 2);
  pod("waits", "4");
  pass();
  EXPECT_FALSE(gated("b"));
  EXPECT_TRUE(gated("waits"));
  phase("p", "Running");
  pass();
  EXPECT_EQ(count(), alone + "1\n" + grouped + "2\n");
}

TEST_F(GateRemoval, IsNotToldOfAPodThatIsStopped) {
  pod("p", "4");
  pass();
  EXPECT_TRUE(patch(api::kWorkloads, "default", std::string(string_at(workloads().at(0), {"metadata", "name"})),
                    R"({"spec":{"active":false}})")
                  .ok());
  pass();
  EXPECT_TRUE(told("p", "Stopped"));
  EXPECT_EQ(count(), alone + "1\n");
}

}  // namespace
}  // namespace berth::controller::gate_removal_test
