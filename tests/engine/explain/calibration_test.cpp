// How often predictions hold in random clusters: scripts/calibrate plays a thousand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "engine/explain/living_cluster.h"
#include "support/sanitized.h"

namespace berth::engine::calibration_test {
namespace {

struct Counts {
  std::size_t worlds = 0, predictions = 0, half = 0, nine = 0;  // with a P50, with a P90
  std::size_t by_p50 = 0, by_p90 = 0;                           // started by then
  std::size_t after = 0, later = 0;                             // said to start after a time, and did
  std::size_t nothing = 0;
  static double percent(std::size_t part, std::size_t whole) {
    return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  }
};

constexpr std::size_t kOfOneWorld = 12;    // predictions
constexpr unsigned kEnoughForShares = 60;  // worlds

void count(unsigned seed, Counts& counts) {
  test::LivingCluster cluster(seed);
  Time now = test::kEpoch;
  // Until there is a history, and work that waits.
  std::vector<std::string> waiting;
  for (int rounds = 0; rounds < 200 && (cluster.finished() < 60 || waiting.size() < 4); ++rounds) {
    now += std::chrono::seconds(120);
    cluster.live_until(now);
    waiting = cluster.waiting();
  }
  if (waiting.size() < 4) return;
  ++counts.worlds;
  // From all parts of the queues.
  std::vector<std::string> asked;
  const std::size_t step = std::max<std::size_t>(1, waiting.size() / kOfOneWorld);
  for (std::size_t i = 0; i < waiting.size() && asked.size() < kOfOneWorld; i += step) asked.push_back(waiting[i]);
  const auto predicted = predict(cluster.engine(), cluster.history(), now, asked);
  const auto all_started = [&] {
    return std::ranges::all_of(asked, [&](const auto& key) { return cluster.started(key, now).has_value(); });
  };
  Time then = now;
  for (int rounds = 0; rounds < 400 && !all_started(); ++rounds) cluster.live_until(then += std::chrono::seconds(120));
  for (const auto& p : predicted) {
    const auto start = cluster.started(p.ns + "/" + p.name, now);
    const auto by = [&](const std::optional<Time>& time) { return time && start && *start <= *time; };
    ++counts.predictions;
    counts.half += p.p50 ? 1 : 0;
    counts.nine += p.p90 ? 1 : 0;
    counts.by_p50 += by(p.p50) ? 1 : 0;
    counts.by_p90 += by(p.p90) ? 1 : 0;
    if (p.p50) continue;
    if (p.after) {
      ++counts.after;
      counts.later += !start || *start > *p.after ? 1 : 0;
    } else {
      ++counts.nothing;
    }
  }
}

TEST(Calibration, StartsLieBeforeP50AndP90AsOftenAsTheyShould) {
  const char* wanted = std::getenv("BERTH_CALIBRATION_WORLDS");
  const unsigned worlds = wanted != nullptr ? static_cast<unsigned>(std::atoi(wanted)) : 60U / testing_support::kFewer;
  Counts counts;
  for (unsigned seed = 1; seed <= worlds; ++seed) count(seed, counts);
  std::printf(
      "%zu predictions in %zu random clusters\n"
      "  started by P50: %5.1f %% of %zu (40 to 60)\n"
      "  started by P90: %5.1f %% of %zu (85 to 95)\n"
      "  \"after TIME\":   %5.1f %% of %zu started later\n"
      "  nothing known:  %zu\n",
      counts.predictions, counts.worlds, Counts::percent(counts.by_p50, counts.half), counts.half,
      Counts::percent(counts.by_p90, counts.nine), counts.nine, Counts::percent(counts.later, counts.after),
      counts.after, counts.nothing);
  ASSERT_GT(counts.nine, worlds);
  // A thousand clusters lie within the wanted ranges; sixty may lie somewhat beside them; fewer say nothing about
  // shares.
  if (worlds < kEnoughForShares) return;
  const double more = worlds < 500 ? 8 : 0;
  EXPECT_GE(Counts::percent(counts.by_p50, counts.half), 40 - more);
  EXPECT_LE(Counts::percent(counts.by_p50, counts.half), 60 + more);
  EXPECT_GE(Counts::percent(counts.by_p90, counts.nine), 85 - more);
  EXPECT_LE(Counts::percent(counts.by_p90, counts.nine), 95 + more);
  EXPECT_GE(Counts::percent(counts.later, counts.after), 50) << "what is said to start later";
}

}  // namespace
}  // namespace berth::engine::calibration_test
