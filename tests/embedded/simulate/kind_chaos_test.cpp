#include "embedded/simulate/kind_chaos.h"

#include <gtest/gtest.h>

namespace berth::simulation::kind_chaos_test {
namespace {

// 60 seeds, in groups that can run in parallel; test_simulation --kinds 1 --seeds 200 --from 1 plays more. Sanitizers
// make each seed several times slower, so they play fewer.
#ifdef BERTH_SANITIZED
constexpr int kKindGroups = 3;
constexpr int kKindSeedsPerGroup = 1;
#else
constexpr int kKindGroups = 20;
constexpr int kKindSeedsPerGroup = 3;
#endif

class KindChaosSeeds : public testing::TestWithParam<int> {};

TEST_P(KindChaosSeeds, NoPodOfAJobRunsWithoutQuotaAndNoJobIsForgotten) {
  std::uint64_t jobs = 0, ran = 0, finished = 0;
  for (int i = 0; i < kKindSeedsPerGroup; ++i) {
    KindChaosOptions options;
    options.seed = static_cast<std::uint64_t>(GetParam() * kKindSeedsPerGroup + i + 1);
    const auto result = run_kind_chaos(options);
    EXPECT_GE(result.events, options.events);
    jobs += result.jobs;
    ran += result.ran;
    finished += result.finished;
    for (const auto& sentence : result.broken) ADD_FAILURE() << "seed " << options.seed << ": " << sentence;
  }
  if (kKindSeedsPerGroup > 1) {
    EXPECT_GT(jobs, 30u);
    EXPECT_GT(ran, 20u);
    EXPECT_GT(finished, 3u);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, KindChaosSeeds, testing::Range(0, kKindGroups));

}  // namespace
}  // namespace berth::simulation::kind_chaos_test
