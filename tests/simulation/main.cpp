// The simulation's test program. One seed is reproduced with:
//   test_simulation --seed N [--events N] [--volcano 1]
// What is left of queues and workloads that come and go:
//   test_simulation --flat 1 [--queues N] [--workloads N] [--rounds N]
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "simulation/flat.h"
#include "simulation/volcano_chaos.h"

namespace {

using berth::simulation::ChaosOptions;
using berth::simulation::run_chaos;
using berth::simulation::run_volcano_chaos;

// 200 seeds in groups, so that they run beside each other. Sanitizers make each several times slower: they get fewer.
constexpr int kGroups = 20;
#ifdef BERTH_SANITIZED
constexpr int kSeedsPerGroup = 1;
#else
constexpr int kSeedsPerGroup = 10;
#endif

class Chaos : public testing::TestWithParam<int> {};

TEST_P(Chaos, EveryInvariantHoldsAndNothingIsLost) {
  for (int i = 0; i < kSeedsPerGroup; ++i) {
    ChaosOptions options;
    options.seed = static_cast<std::uint64_t>(GetParam() * kSeedsPerGroup + i + 1);
    const auto result = run_chaos(options);
    EXPECT_GE(result.events, options.events);
    EXPECT_GT(result.rounds, 0u);
    for (const auto& sentence : result.broken) ADD_FAILURE() << "seed " << options.seed << ": " << sentence;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Chaos, testing::Range(0, kGroups));

int play_flat(const berth::simulation::FlatOptions& options) {
  std::printf("%6s %10s %10s %8s %8s %12s %8s\n", "round", "queues", "workloads", "admitted", "series",
              "heap bytes", "names");
  int admitted = 0;
  berth::simulation::run_flat(options, [&](int round, const berth::simulation::FlatRound& state) {
    admitted += state.admitted;
    std::printf(
        "%6d %10d %10d %8d %8zu %12zu %8zu\n", round + 1, (round + 1) * (options.queues / options.rounds),
        (round + 1) * (options.workloads / options.rounds), admitted, state.series, state.heap, state.names);
    std::fflush(stdout);
  });
  return 0;
}

int tell(const berth::simulation::StormLog& log) {
  for (const auto& sentence : log.broken) std::printf("%s\n", sentence.c_str());
  return log.broken.empty() ? 0 : 1;
}

int play_one(const ChaosOptions& options) {
  const auto result = run_chaos(options);
  std::printf("seed %llu: %llu events, %llu jobs (%llu ended), %llu evictions, %llu restarts, %llu rounds\n",
              static_cast<unsigned long long>(options.seed), static_cast<unsigned long long>(result.events),
              static_cast<unsigned long long>(result.jobs), static_cast<unsigned long long>(result.finished),
              static_cast<unsigned long long>(result.evictions),
              static_cast<unsigned long long>(result.restarts),
              static_cast<unsigned long long>(result.rounds));
  return tell(result);
}

int play_one_of_volcanos(const ChaosOptions& options) {
  const auto result = run_volcano_chaos(options);
  std::printf("seed %llu: %llu events, %llu jobs (%llu ended), %llu let in, %llu gave way, %llu restarts, %llu rounds\n",
              static_cast<unsigned long long>(options.seed), static_cast<unsigned long long>(result.events),
              static_cast<unsigned long long>(result.jobs), static_cast<unsigned long long>(result.finished),
              static_cast<unsigned long long>(result.let_in), static_cast<unsigned long long>(result.gave_way),
              static_cast<unsigned long long>(result.restarts), static_cast<unsigned long long>(result.rounds));
  return tell(result);
}

}  // namespace

int main(int argc, char** argv) {
  // Faults are the point here: what the controller says of each would be all that is seen.
  berth::log::configure(berth::log::Level::kError, berth::log::Format::kText);
  ChaosOptions options;
  berth::simulation::FlatOptions flat;
  bool one = false, volcano = false, is_flat = false;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--seed") == 0) {
      options.seed = std::strtoull(argv[i + 1], nullptr, 10);
      one = true;
    } else if (std::strcmp(argv[i], "--events") == 0) {
      options.events = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (std::strcmp(argv[i], "--volcano") == 0) {
      volcano = std::strcmp(argv[i + 1], "0") != 0;
    } else if (std::strcmp(argv[i], "--flat") == 0) {
      is_flat = std::strcmp(argv[i + 1], "0") != 0;
    } else if (std::strcmp(argv[i], "--queues") == 0) {
      flat.queues = std::atoi(argv[i + 1]);
    } else if (std::strcmp(argv[i], "--workloads") == 0) {
      flat.workloads = std::atoi(argv[i + 1]);
    } else if (std::strcmp(argv[i], "--rounds") == 0) {
      flat.rounds = std::atoi(argv[i + 1]);
    }
  }
  if (is_flat) return play_flat(flat);
  if (one) return volcano ? play_one_of_volcanos(options) : play_one(options);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
