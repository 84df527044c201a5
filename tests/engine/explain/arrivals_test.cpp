// What is remembered of arrivals.
#include "engine/explain/arrivals.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engine/explain/run_history.h"
#include "engine/support/scenario.h"

namespace berth::engine::arrivals_test {
namespace {

using test::WorkloadBuilder;

RunHistory with_arrivals(std::size_t count) {
  RunHistory history;
  for (std::size_t i = 0; i < count; ++i)
    history.note(WorkloadSeen{std::make_shared<const api::kueue::Workload>(
        WorkloadBuilder("w" + std::to_string(i), "q").created(test::at(static_cast<int>(i))).build())});
  return history;
}

TEST(ArrivalHistory, KeepsTheLatestOfAQueue) {
  const RunHistory history = with_arrivals(ArrivalHistory::kMostOfQueue + 5);
  const auto& queue = history.arrivals().queues().at("ns/q");
  ASSERT_EQ(queue.size(), ArrivalHistory::kMostOfQueue);
  EXPECT_EQ(queue.front()->meta.name, "w5");
}

TEST(ArrivalHistory, ForgetsAQueueThatIsDeleted) {
  RunHistory history = with_arrivals(ArrivalHistory::kEnough);
  history.note(LocalQueueGone{"other", "q"});
  EXPECT_EQ(history.arrivals().queues().size(), 1u);
  history.note(LocalQueueGone{"ns", "q"});
  EXPECT_TRUE(history.arrivals().queues().empty());
}

}  // namespace
}  // namespace berth::engine::arrivals_test
