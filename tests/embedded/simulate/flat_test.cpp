// Memory and metric series do not grow with the number of queues and workloads that ever existed.
// A longer run: test_simulation --flat 1 --queues 10000 --workloads 1000000 --rounds 500
#include "embedded/simulate/flat.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace berth::simulation::flat_test {
namespace {

// In the first rounds the API server's history fills and hash tables reach their final size.
constexpr std::size_t kWarmUp = 8;
// Allowed difference of the heap between rounds, in bytes: hash tables double in some rounds and not in others. Runs of
// 24 rounds with 2,400 queues, and of 27 rounds with 54,000 workloads, settle within it.
constexpr std::size_t kSlack = 800'000;

TEST(Flat, NothingIsLeftOfQueuesAndWorkloadsThatAreGone) {
  FlatOptions options;
#ifdef BERTH_SANITIZED
  options.workloads = 1'200;
#endif
  const auto rounds = run_flat(options);
  ASSERT_EQ(rounds.size(), static_cast<std::size_t>(options.rounds));
  for (const FlatRound& round : rounds) {
    EXPECT_EQ(round.admitted, options.workloads / options.rounds);
    EXPECT_EQ(round.left, 0);
  }
  const auto settled = rounds.begin() + kWarmUp;
  EXPECT_EQ(rounds.back().series, settled->series) << "series of what is gone";
  const auto most =
      std::max_element(settled, rounds.end(), [](const auto& a, const auto& b) { return a.heap < b.heap; });
  EXPECT_LT(most->heap, settled->heap + kSlack) << "after round " << most - rounds.begin();
}

}  // namespace
}  // namespace berth::simulation::flat_test
