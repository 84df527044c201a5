// Random cohorts until nothing moves: trees with borrowing, lending, preemption and fair sharing. And the order in
// which workloads are preempted is total.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>

#include "engine/schedule/house.h"
#include "engine/schedule/world.h"
#include "support/sanitized.h"

namespace berth::engine::rest_test {
namespace {

using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;
using Keys = std::set<std::string>;

// The seeds of a usual run; BERTH_RANDOM_COHORTS=100000 plays more.
unsigned seeds() {
  const char* wanted = std::getenv("BERTH_RANDOM_COHORTS");
  return wanted != nullptr ? static_cast<unsigned>(std::strtoul(wanted, nullptr, 10)) : 2'000 / testing_support::kFewer;
}

class Cohorts {
 public:
  explicit Cohorts(unsigned seed) : random_(seed), world_(options(seed)) {
    flavors_ = 1 + pick(2);
    for (int f = 0; f < flavors_; ++f) world_.flavor(name("f", f));
    const std::vector<std::string> parents{"root", "left", "right"};
    for (int c = 0; c < 3; ++c)
      world_.cohort(parents[static_cast<std::size_t>(c)], c == 0 ? "" : "root",
                    chance(40) ? quotas(false) : std::vector<std::pair<std::string, std::vector<QueueSpec::Limit>>>(),
                    name("", pick(3)));
    const int queues = 2 + pick(4);
    for (int q = 0; q < queues; ++q) give_queue(name("q", q), parents[static_cast<std::size_t>(pick(3))]);
    const int jobs = 3 + pick(12);
    for (int j = 0; j < jobs; ++j)
      world_.job({.name = name("w", j),
                  .queue = name("q", pick(queues)),
                  .count = 1 + pick(3),
                  .requests = {{"cpu", name("", 1 + pick(3))}},
                  .priority = pick(3),
                  .min_count = chance(15) ? std::optional(1) : std::nullopt});
  }

  // Plays until nothing moves. Returns false when a state comes back first: workloads preempt each other in turn.
  bool rests() {
    std::set<std::pair<Keys, Keys>> states;
    Keys holders, preemptors;  // the latter: waiting for the quota of their victims
    while (true) {
      const auto moves = world_.moves();
      if (moves.empty()) return true;
      Keys victims;
      for (const std::string& move : moves) note(move, holders, preemptors, victims);
      if (!states.emplace(holders, preemptors).second) return false;
      for (const std::string& victim : victims) {
        world_.stopped(victim);
        holders.erase(victim);
      }
    }
  }
  std::vector<std::string> check() const { return world_.scheduler.check(); }

 private:
  static SchedulerOptions options(unsigned seed) {
    SchedulerOptions out;
    out.fair_sharing.enabled = seed % 2 == 0;
    out.fair_sharing.prioritize_non_borrowing = seed % 6 != 0;
    return out;
  }
  static std::string name(const std::string& prefix, int number) { return prefix + std::to_string(number); }
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int percent) { return pick(100) < percent; }

  QueueSpec::Limit limit(bool limits) {
    return {"cpu", name("", pick(7)), limits && chance(30) ? name("", pick(4)) : "",
            limits && chance(30) ? name("", pick(4)) : ""};
  }
  std::vector<std::pair<std::string, std::vector<QueueSpec::Limit>>> quotas(bool limits) {
    std::vector<std::pair<std::string, std::vector<QueueSpec::Limit>>> out;
    for (int f = 0; f < flavors_; ++f) out.push_back({name("f", f), {limit(limits)}});
    return out;
  }
  void give_queue(const std::string& queue, const std::string& cohort) {
    QueueSpec spec(queue);
    spec.in(cohort).weighs(name("", pick(3)));
    for (const auto& [flavor, limits] : quotas(true)) spec.flavor(flavor, limits);
    if (chance(30)) spec.strict();
    if (chance(50))
      spec.within(chance(50) ? WithinClusterQueue::kLowerPriority : WithinClusterQueue::kLowerOrNewerEqualPriority);
    if (chance(60)) spec.reclaim(chance(50) ? ReclaimWithinCohort::kAny : ReclaimWithinCohort::kLowerPriority);
    if (chance(20)) spec.borrow_preempting(chance(50) ? std::optional(1) : std::nullopt);
    world_.queue(spec);
  }

  // "admit a", "preempt b for a (...)"
  static void note(const std::string& move, Keys& holders, Keys& preemptors, Keys& victims) {
    const auto word = [&](std::size_t begin) { return move.substr(begin, move.find(' ', begin) - begin); };
    if (move.starts_with("admit ")) {
      holders.insert(word(6));
      preemptors.erase(word(6));
    } else if (move.starts_with("preempt ")) {
      victims.insert(word(8));
      preemptors.insert(word(move.find(" for ") + 5));
    }
  }

  std::mt19937 random_;
  World world_;
  int flavors_ = 1;
};

// The scheduler alone has no back-off: here victims stop at once and wait again in the same second, so a few cohorts
// play for ever. Of the others, nobody is parked who may be admitted or may preempt.
TEST(Rest, NobodyIsParkedWhoMayMoveWhenCohortsComeToRest) {
  unsigned restless = 0;
  for (unsigned seed = 1; seed <= seeds(); ++seed) {
    Cohorts cohorts(seed);
    if (cohorts.rests()) {
      EXPECT_EQ(cohorts.check(), std::vector<std::string>()) << "seed " << seed;
    } else {
      ++restless;
    }
    if (HasFailure()) return;
  }
  RecordProperty("restless", static_cast<int>(restless));
  EXPECT_LE(restless, seeds() / 100);
}

// Irreflexive, one of two, transitive: over all triples of keys that often share values.
TEST(Rest, TheOrderOfPreemptionIsTotal) {
  House house;
  const NodeId queue = house.queue("q", "", 100);
  std::mt19937 random(1);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<HolderKey> keys;
  for (int i = 0; i < 60; ++i) {
    const WorkloadId id = house.runs(queue, 1, pick(3), pick(3));
    const Slot& slot = house.slots[id];
    keys.push_back({pick(2) == 0, {}, slot.priority, slot.reserved_at, id});
  }
  const auto less = [&](const HolderKey& a, const HolderKey& b) { return earlier_candidate(a, b, house.slots); };
  for (const auto& a : keys) {
    EXPECT_FALSE(less(a, a));
    for (const auto& b : keys) {
      if (a.workload == b.workload) continue;
      EXPECT_NE(less(a, b), less(b, a));
      for (const auto& c : keys) EXPECT_TRUE(!less(a, b) || !less(b, c) || less(a, c));
    }
  }
}

}  // namespace
}  // namespace berth::engine::rest_test
