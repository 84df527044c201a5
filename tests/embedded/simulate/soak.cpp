#include "embedded/simulate/soak.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "base/planted.h"
#include "embedded/simulate/kind_chaos.h"
#include "embedded/simulate/pod_chaos.h"
#include "embedded/simulate/seed_runs.h"
#include "embedded/simulate/volcano_chaos.h"

namespace berth::simulation {
namespace {

using Clock = std::chrono::steady_clock;

// Of five runs, one plays Volcano's objects and one plays pods.
constexpr std::uint64_t kKindsOfRuns = 5, kVolcanoRun = 0, kPodRun = 4;
constexpr std::size_t kMostFindings = 20;  // a soak stops after so many findings

bool is_volcano(std::uint64_t run) { return run % kKindsOfRuns == kVolcanoRun; }
bool is_pods(std::uint64_t run) { return run % kKindsOfRuns == kPodRun; }

SeedCounts counts_of(const ChaosResult& result) {
  return {result.events,
          result.faults,
          result.restarts,
          result.monkeys.actions,
          result.monkeys.accepted,
          static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(result.simulated).count())};
}

}  // namespace

SeedReport play_pods(std::uint64_t run) {
  const auto result = run_pod_chaos({.seed = run});
  SeedReport report;
  report.counts.events = result.events;
  report.counts.faults = result.faults;
  report.counts.restarts = result.restarts;
  report.broken = result.broken;
  return report;
}

SeedReport play_jobs(std::uint64_t run) {
  const auto result = run_kind_chaos({.seed = run});
  SeedReport report;
  report.counts.events = result.events;
  report.counts.restarts = result.restarts;
  report.broken = result.broken;
  return report;
}

SeedReport play_run(std::uint64_t run) {
  ChaosOptions options;
  options.seed = run;
  if (is_pods(run)) return play_pods(run);
  if (!is_volcano(run)) {
    const auto result = run_chaos(options);
    return {counts_of(result), result.broken};
  }
  const auto result = run_volcano_chaos(options);
  SeedReport report;
  report.counts.events = result.events;
  report.counts.restarts = result.restarts;
  report.broken = result.broken;
  return report;
}

namespace {

using Play = SeedReport (*)(std::uint64_t run);

Play play_of(const SoakOptions& options) { return options.kinds ? play_jobs : options.pods ? play_pods : play_run; }

void report_finding(std::uint64_t run, const SeedReport& report, const SoakOptions& options, std::string_view planted) {
  const bool pods = options.pods || is_pods(run);
  std::printf("seed %llu fails; replay it with: build/dev/tests/test_simulation --seed %llu%s%s%s\n",
              static_cast<unsigned long long>(run), static_cast<unsigned long long>(run),
              options.kinds     ? " --kinds 1"
              : pods            ? " --pods 1"
              : is_volcano(run) ? " --volcano 1"
                                : "",
              planted.empty() ? "" : " --planted ", std::string(planted).c_str());
  for (const auto& sentence : report.broken) std::printf("  %.2000s\n", sentence.c_str());
  std::fflush(stdout);
}

unsigned parallel_of(const SoakOptions& options) {
  return options.parallel > 0 ? options.parallel : std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

int soak(const SoakOptions& options) {
  const auto end = Clock::now() + options.longest;
  const std::uint64_t first =
      options.first_seed > 0
          ? options.first_seed
          : static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch() / std::chrono::seconds(1)) *
                1000;
  const std::uint64_t last = options.pods ? first + options.most_seeds : std::numeric_limits<std::uint64_t>::max();
  std::uint64_t next = first, played = 0;
  SeedCounts sum;
  std::vector<std::uint64_t> failed;
  play_seeds(
      {parallel_of(options)}, [&] { return Clock::now() < end && next < last ? next++ : std::uint64_t{0}; },
      play_of(options),
      [&](std::uint64_t run, const SeedReport& report) {
        ++played;
        sum += report.counts;
        if (report.broken.empty()) return true;
        failed.push_back(run);
        report_finding(run, report, options, {});
        return failed.size() < kMostFindings;
      });
  const auto wide = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf(
      "%llu seeds from %llu: %llu events, %llu faults, %llu restarts, %llu actions of monkeys (%llu writes "
      "accepted), %llu h simulated; %zu seeds fail\n",
      wide(played), wide(first), wide(sum.events), wide(sum.faults), wide(sum.restarts), wide(sum.actions),
      wide(sum.writes), wide(sum.simulated_seconds / 3600), failed.size());
  return failed.empty() ? 0 : 1;
}

int list_planted_bugs() {
  for (const auto& bug : planted_bugs())
    std::printf("%-24.*s %.*s\n", static_cast<int>(bug.name.size()), bug.name.data(), static_cast<int>(bug.what.size()),
                bug.what.data());
  return 0;
}

bool plant_bug(std::string_view name) {
#ifdef BERTH_ASSERTS
  const auto bugs = planted_bugs();
  const auto found = std::ranges::find(bugs, name, &PlantedBug::name);
  if (found != bugs.end()) {
    plant(found->bug);
    return true;
  }
  std::fprintf(stderr, "no planted bug is called \"%.*s\"; --planted list names them\n", static_cast<int>(name.size()),
               name.data());
#else
  static_cast<void>(name);
  std::fprintf(stderr, "this program was built without BERTH_ASSERTS: it knows no planted bugs\n");
#endif
  return false;
}

int search_planted_bug(std::string_view name, const SoakOptions& options) {
  const std::uint64_t first = std::max<std::uint64_t>(options.first_seed, 1);
  std::uint64_t next = first, found = 0;
  play_seeds(
      {parallel_of(options)}, [&] { return next < first + options.most_seeds ? next++ : std::uint64_t{0}; },
      play_of(options),
      [&](std::uint64_t run, const SeedReport& report) {
        if (report.broken.empty() || found != 0) return found == 0;
        found = run;
        report_finding(run, report, options, name);
        return false;
      });
  std::printf("%.*s: %s\n", static_cast<int>(name.size()), name.data(),
              found == 0 ? ("not found with " + std::to_string(options.most_seeds) + " seeds").c_str()
                         : ("found after " + std::to_string(next - first) + " seeds").c_str());
  return found == 0 ? 1 : 0;
}

}  // namespace berth::simulation
