// The simulation's test program. Without one of these arguments it runs the tests.
//   test_simulation --seed N [--events N] [--monkeys N] [--volcano 1] [--pods 1] [--kinds 1] [--planted NAME]
//                   [--journal BYTES]
//     replays one seed; with --journal, also the journals that its controllers record, in segments of so many bytes
//   test_simulation --soak MINUTES [--from SEED] [--parallel N]
//     plays new seeds until the time has passed
//   test_simulation --pods 1 --seeds N --from SEED [--parallel N]
//     plays these seeds with pods and their owners
//   test_simulation --kinds 1 --seeds N --from SEED
//     plays these seeds with jobs of described kinds
//   test_simulation --planted NAME --seeds N [--from SEED] [--parallel N] [--pods 1] [--kinds 1]
//     plays seeds until one finds the planted bug
//   test_simulation --planted list
//     lists the planted bugs
//   test_simulation --decode N [--from SEED]
//     draws N random objects of each kind and checks that the controller can read them
//   test_simulation --flat 1 [--queues N] [--workloads N] [--rounds N]
//     creates and deletes queues and workloads, and prints what is left after each round
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/log.h"
#include "base/planted.h"
#include "embedded/simulate/decode.h"
#include "embedded/simulate/flat.h"
#include "embedded/simulate/kind_chaos.h"
#include "embedded/simulate/pod_chaos.h"
#include "embedded/simulate/soak.h"
#include "embedded/simulate/volcano_chaos.h"

namespace {

using berth::simulation::ChaosOptions;
using berth::simulation::run_chaos;
using berth::simulation::run_volcano_chaos;

// 100 seeds, in groups that can run in parallel. Sanitizers make each seed several times slower, so they play fewer.
#ifdef BERTH_SANITIZED
constexpr int kGroups = 5;
constexpr int kSeedsPerGroup = 1;
#else
constexpr int kGroups = 20;
constexpr int kSeedsPerGroup = 5;
#endif

class Chaos : public testing::TestWithParam<int> {};

TEST_P(Chaos, EveryInvariantHoldsAndNothingIsLost) {
  for (int i = 0; i < kSeedsPerGroup; ++i) {
    ChaosOptions options;
    options.seed = static_cast<std::uint64_t>(GetParam() * kSeedsPerGroup + i + 1);
    const auto result = run_chaos(options);
    EXPECT_GE(result.events, options.events);
    EXPECT_GT(result.rounds, 0u);
    EXPECT_GT(result.monkeys.accepted, 0u);
    for (const auto& sentence : result.broken) ADD_FAILURE() << "seed " << options.seed << ": " << sentence;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Chaos, testing::Range(0, kGroups));

int play_flat(const berth::simulation::FlatOptions& options) {
  std::printf("%6s %10s %10s %8s %8s %12s %8s\n", "round", "queues", "workloads", "admitted", "series", "heap bytes",
              "names");
  int admitted = 0;
  berth::simulation::run_flat(options, [&](int round, const berth::simulation::FlatRound& state) {
    admitted += state.admitted;
    std::printf("%6d %10d %10d %8d %8zu %12zu %8zu\n", round + 1, (round + 1) * (options.queues / options.rounds),
                (round + 1) * (options.workloads / options.rounds), admitted, state.series, state.heap, state.names);
    std::fflush(stdout);
  });
  return 0;
}

int play_decode(const berth::simulation::DecodeOptions& options) {
  bool all_well = true;
  std::printf("%-36s %8s %10s %12s\n", "kind", "drawn", "accepted", "unreadable");
  for (const auto& count : berth::simulation::run_decode(options)) {
    std::printf("%-36s %8d %10d %12d\n", count.resource.c_str(), count.drawn, count.accepted, count.unreadable);
    for (const auto& sentence : count.broken) std::printf("  %s\n", sentence.c_str());
    all_well = all_well && count.broken.empty();
  }
  return all_well ? 0 : 1;
}

int report(const berth::simulation::StormLog& log) {
  for (const auto& sentence : log.broken) std::printf("%s\n", sentence.c_str());
  return log.broken.empty() ? 0 : 1;
}

unsigned long long wide(std::uint64_t n) { return n; }

int play_one(const ChaosOptions& options) {
  const auto result = run_chaos(options);
  std::printf(
      "seed %llu: %llu events, %llu faults, %llu jobs (%llu ended), %llu evictions, %llu restarts, %llu rounds, %llu "
      "actions of monkeys (%llu accepted, "
      "%llu refused)\n",
      wide(options.seed), wide(result.events), wide(result.faults), wide(result.jobs), wide(result.finished),
      wide(result.evictions), wide(result.restarts), wide(result.rounds), wide(result.monkeys.actions),
      wide(result.monkeys.accepted), wide(result.monkeys.refused));
  if (options.journal > 0)
    std::printf("journal: %llu segments, %llu answers of the engine came again\n", wide(result.segments),
                wide(result.replayed));
  return report(result);
}

int play_one_of_volcanos(const ChaosOptions& options) {
  const auto result = run_volcano_chaos(options);
  std::printf(
      "seed %llu: %llu events, %llu jobs (%llu ended), %llu let in, %llu gave way, %llu restarts, %llu rounds\n",
      wide(options.seed), wide(result.events), wide(result.jobs), wide(result.finished), wide(result.let_in),
      wide(result.gave_way), wide(result.restarts), wide(result.rounds));
  return report(result);
}

int play_one_of_pods(const ChaosOptions& options) {
  const auto result = berth::simulation::run_pod_chaos({options.seed, options.events});
  std::printf(
      "seed %llu: %llu events, %llu pods, %llu owners of pods, %llu pods let go, %llu evictions, %llu finished, %llu "
      "pods of owners serve at the end, %llu restarts\n",
      wide(options.seed), wide(result.events), wide(result.pods), wide(result.owners), wide(result.let_go),
      wide(result.evictions), wide(result.finished), wide(result.serving), wide(result.restarts));
  return report(result);
}

int play_kinds(std::uint64_t first, std::uint64_t seeds, std::uint64_t events) {
  int wrong = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const auto result = berth::simulation::run_kind_chaos({seed, events});
    std::printf(
        "seed %llu: %llu events, %llu jobs (%llu ended), %llu pods had quota, %llu evictions, %llu restarts, %llu of "
        "operators, %llu kinds uninstalled, %llu in another version\n",
        wide(seed), wide(result.events), wide(result.jobs), wide(result.finished), wide(result.ran),
        wide(result.evictions), wide(result.restarts), wide(result.operators), wide(result.uninstalled),
        wide(result.moved));
    wrong += report(result) == 0 ? 0 : 1;
    std::fflush(stdout);
  }
  return wrong == 0 ? 0 : 1;
}

struct Arguments {
  ChaosOptions chaos;
  berth::simulation::SoakOptions soak;
  berth::simulation::FlatOptions flat;
  int decode = 0;
  std::string_view planted;
  bool one = false, volcano = false, pods = false, kinds = false, soaks = false, searches = false, is_flat = false;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string_view name = argv[i];
    const auto number = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--seed") {
      out.chaos.seed = number;
      out.one = true;
    } else if (name == "--events") {
      out.chaos.events = number;
    } else if (name == "--monkeys") {
      out.chaos.monkey_events = number;
    } else if (name == "--journal") {
      out.chaos.journal = number;
    } else if (name == "--volcano") {
      out.volcano = number != 0;
    } else if (name == "--pods") {
      out.pods = out.soak.pods = number != 0;
    } else if (name == "--kinds") {
      out.kinds = out.soak.kinds = number != 0;
    } else if (name == "--soak") {
      out.soak.longest = std::chrono::minutes(number);
      out.soaks = true;
    } else if (name == "--from") {
      out.soak.first_seed = number;
    } else if (name == "--parallel") {
      out.soak.parallel = static_cast<unsigned>(number);
    } else if (name == "--planted") {
      out.planted = argv[i + 1];
    } else if (name == "--seeds") {
      out.soak.most_seeds = number;
      out.searches = true;
    } else if (name == "--decode") {
      out.decode = static_cast<int>(number);
    } else if (name == "--flat") {
      out.is_flat = number != 0;
    } else if (name == "--queues") {
      out.flat.queues = static_cast<int>(number);
    } else if (name == "--workloads") {
      out.flat.workloads = static_cast<int>(number);
    } else if (name == "--rounds") {
      out.flat.rounds = static_cast<int>(number);
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  // Log errors only: the faults are intended, and a message for each would hide everything else.
  berth::log::configure(berth::log::Level::kError, berth::log::Format::kText);
  const Arguments arguments = read_arguments(argc, argv);
  if (arguments.planted == "list") return berth::simulation::list_planted_bugs();
  if (!arguments.planted.empty() && !berth::simulation::plant_bug(arguments.planted)) return 2;
  if (arguments.kinds && (arguments.one || (arguments.searches && arguments.planted.empty())))
    return play_kinds(arguments.one ? arguments.chaos.seed : std::max<std::uint64_t>(arguments.soak.first_seed, 1),
                      arguments.one ? 1 : arguments.soak.most_seeds, arguments.chaos.events);
  if (arguments.searches && arguments.pods && arguments.planted.empty()) return berth::simulation::soak(arguments.soak);
  if (arguments.searches) return berth::simulation::search_planted_bug(arguments.planted, arguments.soak);
  if (arguments.soaks) return berth::simulation::soak(arguments.soak);
  if (arguments.decode > 0)
    return play_decode({std::max<std::uint64_t>(arguments.soak.first_seed, 1), arguments.decode});
  if (arguments.is_flat) return play_flat(arguments.flat);
  if (arguments.one && arguments.pods) return play_one_of_pods(arguments.chaos);
  if (arguments.one) return arguments.volcano ? play_one_of_volcanos(arguments.chaos) : play_one(arguments.chaos);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
