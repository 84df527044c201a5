// kueue_pending_scheduling_hashes: the classes of waiting workloads that share a verdict.
#include <gtest/gtest.h>

#include "controller/metrics_fixture.h"

namespace berth::controller::pending_classes_test {
namespace {

using namespace metrics_fixture;

struct PendingClasses : QueueMetricsTest {
  using QueueMetricsTest::QueueMetricsTest;
  std::string classes() {
    refresh();
    return lines_of(registry, "kueue_pending_scheduling_hashes");
  }
  static std::string text(int active, int inadmissible) {
    return "{cluster_queue=\"cq\",status=\"active\"} " + std::to_string(active) +
           "\n{cluster_queue=\"cq\",status=\"inadmissible\"} " + std::to_string(inadmissible) + "\n";
  }
};

// Of w1 and w2, with two cpus each, the queue of three admits one.
TEST_F(PendingClasses, AreOfWorkloadsThatAreAlike) {
  EXPECT_EQ(classes(), text(0, 1));
  workload("w3");
  decide();
  EXPECT_EQ(classes(), text(0, 1)) << "w3 is as w2";
  workload_in("lq", "other", 5);
  decide();
  EXPECT_EQ(classes(), text(0, 2));
  engine.handle(kStart, engine::WorkloadGone{"a", "w1", "w1"});
  decide();
  EXPECT_EQ(classes(), text(0, 2)) << "w2 has the quota of w1, w3 waits";
  engine.handle(kStart, engine::WorkloadGone{"a", "w3", "w3"});
  decide();
  EXPECT_EQ(classes(), text(0, 1));
}

TEST_F(PendingClasses, ThoseThatCanNeverFitAreCounted) {
  const auto never = [&] {
    refresh();
    return lines_of(registry, "berth_never_fitting_workloads");
  };
  EXPECT_EQ(never(), "{cluster_queue=\"cq\"} 0\n");
  workload_in("lq", "large", 5);
  workload_in("lq", "larger", 5);
  decide();
  EXPECT_EQ(never(), "{cluster_queue=\"cq\"} 2\n");
  engine.handle(kStart, engine::WorkloadGone{"a", "large", "large"});
  decide();
  EXPECT_EQ(never(), "{cluster_queue=\"cq\"} 1\n");
}

TEST_F(PendingClasses, AreActiveWhileTheirVictimsLeave) {
  overlapping_preemptions();
  const std::string reported = classes();
  for (const char* queue : {"left", "right"}) {
    const std::string of = "{cluster_queue=\"" + std::string(queue) + "\",status=";
    EXPECT_NE(reported.find(of + "\"active\"} 1\n"), std::string::npos) << reported;
    EXPECT_NE(reported.find(of + "\"inadmissible\"} 0\n"), std::string::npos) << reported;
  }
}

struct WithoutHashing : PendingClasses {
  WithoutHashing()
      : PendingClasses([] {
          engine::Options options;
          options.scheduling_equivalence_hashing = false;
          return options;
        }()) {}
};

TEST_F(WithoutHashing, TheyAreNotReported) { EXPECT_EQ(classes(), ""); }

}  // namespace
}  // namespace berth::controller::pending_classes_test
