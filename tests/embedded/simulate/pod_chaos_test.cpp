#include "embedded/simulate/pod_chaos.h"

#include <gtest/gtest.h>

namespace berth::simulation::pod_chaos_test {
namespace {

// 60 seeds, in groups that can run in parallel; test_simulation --pods 1 --seeds 200 --from 1 plays more. Sanitizers
// make each seed several times slower, so they play fewer.
#ifdef BERTH_SANITIZED
constexpr int kPodGroups = 5;
constexpr int kPodSeedsPerGroup = 1;
#else
constexpr int kPodGroups = 20;
constexpr int kPodSeedsPerGroup = 3;
#endif

class PodChaosSeeds : public testing::TestWithParam<int> {};

TEST_P(PodChaosSeeds, NoPodRunsWithoutQuotaAndNoneIsForgotten) {
  std::uint64_t owners = 0, let_go = 0, evictions = 0, finished = 0, serving = 0;
  for (int i = 0; i < kPodSeedsPerGroup; ++i) {
    PodChaosOptions options;
    options.seed = static_cast<std::uint64_t>(GetParam() * kPodSeedsPerGroup + i + 1);
    const auto result = run_pod_chaos(options);
    EXPECT_GE(result.events, options.events);
    owners += result.owners;
    let_go += result.let_go;
    evictions += result.evictions;
    finished += result.finished;
    serving += result.serving;
    for (const auto& sentence : result.broken) ADD_FAILURE() << "seed " << options.seed << ": " << sentence;
  }
  if (kPodSeedsPerGroup > 1) {
    EXPECT_GT(let_go, 10u);
    EXPECT_GT(finished, 10u);
    EXPECT_GT(evictions, 0u);
    EXPECT_GT(owners, 10u);
    EXPECT_GT(serving, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PodChaosSeeds, testing::Range(0, kPodGroups));

}  // namespace
}  // namespace berth::simulation::pod_chaos_test
