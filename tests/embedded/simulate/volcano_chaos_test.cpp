#include "embedded/simulate/volcano_chaos.h"

#include <gtest/gtest.h>

namespace berth::simulation::volcano_chaos_test {
namespace {

// All groups together take about a minute of CPU.
#ifdef BERTH_SANITIZED
constexpr int kGroups = 5;
constexpr int kSeedsPerGroup = 1;
#else
constexpr int kGroups = 10;
constexpr int kSeedsPerGroup = 6;
#endif

class VolcanoChaosSeeds : public testing::TestWithParam<int> {};

TEST_P(VolcanoChaosSeeds, NobodyTakesWhatIsNotHisAndNothingStandsStill) {
  std::uint64_t let_in = 0;
  for (int i = 0; i < kSeedsPerGroup; ++i) {
    ChaosOptions options;
    options.seed = static_cast<std::uint64_t>(GetParam() * kSeedsPerGroup + i + 1);
    const auto result = run_volcano_chaos(options);
    EXPECT_GE(result.events, options.events);
    let_in += result.let_in;
    for (const auto& sentence : result.broken) ADD_FAILURE() << "seed " << options.seed << ": " << sentence;
  }
  if (kSeedsPerGroup > 1) {
    EXPECT_GT(let_in, 50u);  // admissions are audited in the seeds with admission rules
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, VolcanoChaosSeeds, testing::Range(0, kGroups));

}  // namespace
}  // namespace berth::simulation::volcano_chaos_test
