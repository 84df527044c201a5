#include "embedded/simulate/elastic_chaos.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace berth::simulation::elastic_chaos_test {
namespace {

#ifdef BERTH_SANITIZED
constexpr int kElasticGroups = 4;
constexpr int kElasticSeedsPerGroup = 1;
#else
constexpr int kElasticGroups = 20;
constexpr int kElasticSeedsPerGroup = 10;
#endif

// BERTH_ELASTIC_GROUPS: other numbers of groups, to look for rare faults.
int elastic_groups() {
  const char* wanted = std::getenv("BERTH_ELASTIC_GROUPS");
  return wanted != nullptr ? std::atoi(wanted) : kElasticGroups;
}

class ElasticChaosSeeds : public testing::TestWithParam<int> {};

TEST_P(ElasticChaosSeeds, NoPodIsLostAndNoneRunsWithoutQuota) {
  std::uint64_t sizes = 0, replaced = 0, evictions = 0;
  for (int i = 0; i < kElasticSeedsPerGroup; ++i) {
    ElasticChaosOptions options;
    options.seed = static_cast<std::uint64_t>(GetParam() * kElasticSeedsPerGroup + i + 1);
    const auto result = run_elastic_chaos(options);
    sizes += result.sizes;
    replaced += result.replaced;
    evictions += result.evictions;
    for (const auto& sentence : result.broken) ADD_FAILURE() << "seed " << options.seed << ": " << sentence;
  }
  if (kElasticSeedsPerGroup > 1) {
    EXPECT_GT(sizes, 50u);
    EXPECT_GT(replaced, 10u);
    EXPECT_GT(evictions, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ElasticChaosSeeds, testing::Range(0, elastic_groups()));

}  // namespace
}  // namespace berth::simulation::elastic_chaos_test
