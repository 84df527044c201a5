// Replays the journals of simulated clusters: every answer of the engine comes again, byte for byte.
#include <gtest/gtest.h>

#include "embedded/simulate/chaos.h"
#include "support/sanitized.h"

namespace berth::simulation {
namespace {

TEST(JournalOfChaos, EveryDecisionComesAgain) {
  constexpr std::uint64_t kSeeds = testing_support::kFewer > 1 ? 1 : 3;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ChaosOptions options;
    options.seed = seed;
    options.events = 6'000;
    options.monkey_events = 500;
    options.journal = 3'000;
    const auto result = run_chaos(options);
    EXPECT_GT(result.segments, result.restarts + 2);  // some began with a checkpoint
    EXPECT_GT(result.replayed, 300u);
    for (const auto& sentence : result.broken) ADD_FAILURE() << "seed " << seed << ": " << sentence;
  }
}

}  // namespace
}  // namespace berth::simulation
