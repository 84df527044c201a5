// Flavors and resources that are created and deleted: their numbers are dropped, and pending workloads and quota
// holders are not affected.
#include <gtest/gtest.h>

#include "engine/support/one_queue.h"

namespace berth::engine::renumber_test {
namespace {

using test::ClusterQueueBuilder;
using test::OneQueue;
using test::totals;
using test::WorkloadBuilder;

// Creates a queue with its own flavor and resource and a workload in it, then deletes all of them.
void come_and_go(OneQueue& s, int i) {
  const std::string n = std::to_string(i), flavor = "f" + n, queue = "cq" + n, resource = "example.com/r" + n;
  s.give(test::flavor(flavor));
  s.give(ClusterQueueBuilder(queue).group(resource, {{flavor, "10"}}));
  s.give(test::local_queue("q" + n, queue));
  s.give(WorkloadBuilder("w" + n, "q" + n).requests(1, "{\"" + resource + "\":\"2\"}"));
  s.run();
  ASSERT_EQ(s.state("w" + n), "Admitted");
  s.finish("w" + n);
  s.run();
  s.remove("w" + n);
  s.take(LocalQueueGone{"ns", "q" + n});
  s.take(ClusterQueueGone{queue});
  s.take(ResourceFlavorGone{flavor});
  s.run();
}

TEST(Renumber, NamesOfWhatIsGoneAreForgotten) {
  OneQueue s;
  s.give(WorkloadBuilder("runs").pods(3, "1"));
  s.give(WorkloadBuilder("waits").pods(2, "1"));
  s.run();
  ASSERT_EQ(s.state("runs"), "Admitted");
  const auto waits = s.workload("waits").meta.resource_version;
  const std::string why = s.condition("waits", "QuotaReserved");
  std::size_t most = 0;
  for (int i = 0; i < 1'500; ++i) {
    come_and_go(s, i);
    if (testing::Test::HasFatalFailure()) return;
    most = std::max(most, s.engine().names_kept());
  }
  EXPECT_GT(most, 1'000u) << "some are kept, so that this costs little";
  EXPECT_LT(most, 1'100u);
  EXPECT_EQ(s.workload("waits").meta.resource_version, waits) << "nothing new to tell";
  EXPECT_EQ(s.condition("waits", "QuotaReserved"), why);
  EXPECT_EQ(totals(s.cluster_queue("cq").reservation), "f/cpu=3");
  EXPECT_EQ(s.cluster_queue("cq").pending, 1);
  s.finish("runs");
  s.run();
  EXPECT_EQ(s.state("waits"), "Admitted");
}

// Users may request resources that no administrator has defined.
TEST(Renumber, NamesThatOnlyWorkloadsSpokeOfAreForgottenToo) {
  OneQueue s;
  std::size_t most = 0;
  for (int i = 0; i < 3'000; ++i) {
    const std::string n = std::to_string(i);
    s.give(WorkloadBuilder("w" + n).requests(1, "{\"example.com/r" + n + "\":\"2\"}"));
    s.run();
    ASSERT_EQ(s.state("w" + n), "Pending");
    s.remove("w" + n);
    s.run();
    most = std::max(most, s.engine().names_kept());
  }
  EXPECT_LT(most, 1'100u);
}

TEST(Renumber, WhoeverIsEvictedOrBacksOffGoesOnWithThat) {
  OneQueue s;
  s.jobs_stop_at_once = false;
  s.give(OneQueue::queue().preempt_lower());
  s.give(WorkloadBuilder("low").pods(4, "1"));
  s.run();
  s.give(WorkloadBuilder("high").pods(4, "1").priority(1));
  s.run();
  ASSERT_EQ(s.state("low"), "Evicting");
  s.renumber();
  s.run();
  EXPECT_EQ(s.state("low"), "Evicting");
  EXPECT_EQ(s.state("high"), "Pending") << "the quota is not free yet";
  EXPECT_EQ(totals(s.cluster_queue("cq").reservation), "f/cpu=4");
  s.renumber();
  s.report_stopped("low");
  s.run();
  EXPECT_EQ(s.state("high"), "Admitted");
  EXPECT_EQ(s.state("low"), "Pending");
}

}  // namespace
}  // namespace berth::engine::renumber_test
