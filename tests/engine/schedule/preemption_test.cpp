#include "engine/schedule/preemption.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/schedule/house.h"
#include "support/sanitized.h"

namespace berth::engine::preemption_test {
namespace {

using api::kueue::BorrowWithinCohort;
using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;

TEST(Preemption, FillsBackFromTheEndAndReplacesByTheLast) {
  House house;
  QueueConfig config;
  config.within_cluster_queue = WithinClusterQueue::kLowerPriority;
  QuotaNodeId queue = house.queue("q", "", 10);
  WorkloadId t1 = house.runs(queue, 4, 0, 1), t2 = house.runs(queue, 1, 1, 1), t3 = house.runs(queue, 4, 2, 1);
  Preemptor preemptor{queue, &config, 10, second(9)};
  // t1 and t2 free 5 + 1; t3 is needed for 8, and then t2 is not.
  EXPECT_EQ(house.victims(preemptor, 8), (std::vector{t1, t3}));
  EXPECT_EQ(house.victims(preemptor, 9), (std::vector{t1, t3}));
  EXPECT_EQ(house.victims(preemptor, 10), (std::vector{t1, t2, t3}));
  EXPECT_EQ(house.victims(preemptor, 11), std::vector<WorkloadId>());
  EXPECT_TRUE(house.ledger.check().empty());
}

TEST(Preemption, EvictedThenLowPriorityThenLatestReservationGoFirst) {
  House house;
  QueueConfig config;
  config.within_cluster_queue = WithinClusterQueue::kLowerPriority;
  QuotaNodeId queue = house.queue("q", "", 4);
  house.runs(queue, 1, 0, 1);
  WorkloadId late = house.runs(queue, 1, 0, 2), evicted = house.runs(queue, 1, 5, 0, true);
  house.runs(queue, 1, 1, 3);
  Preemptor preemptor{queue, &config, 10, second(9)};
  EXPECT_EQ(house.victims(preemptor, 1), std::vector{evicted});
  EXPECT_EQ(house.victims(preemptor, 2), (std::vector{evicted, late}));
}

TEST(Preemption, EqualPriorityGivesWayOnlyIfNewer) {
  House house;
  QueueConfig config;
  config.within_cluster_queue = WithinClusterQueue::kLowerOrNewerEqualPriority;
  QuotaNodeId queue = house.queue("q", "", 2);
  house.runs(queue, 1, 3, 1);
  WorkloadId newer = house.runs(queue, 1, 3, 20);
  Preemptor preemptor{queue, &config, 3, second(10)};
  EXPECT_EQ(house.victims(preemptor, 1), std::vector{newer});
  EXPECT_EQ(house.victims(preemptor, 2), std::vector<WorkloadId>());
}

TEST(Preemption, ReclaimsOnlyWhatIsBorrowed) {
  House house;
  QueueConfig config;
  config.reclaim_within_cohort = ReclaimWithinCohort::kAny;
  QuotaNodeId own = house.queue("own", "team", 4), other = house.queue("other", "team", 4);
  house.runs(other, 3, 9, 1);
  WorkloadId later = house.runs(other, 3, 9, 2);
  Preemptor preemptor{own, &config, 0, second(9)};
  EXPECT_EQ(house.victims(preemptor, 4), std::vector{later});
  EXPECT_EQ(house.victims(preemptor, 5), std::vector<WorkloadId>());  // it would borrow itself
}

TEST(Preemption, BorrowsWhilePreemptingOnlyBelowTheThreshold) {
  House house;
  QueueConfig config;
  config.reclaim_within_cohort = ReclaimWithinCohort::kAny;
  config.borrow_within_cohort = BorrowWithinCohort::kLowerPriority;
  config.borrow_max_priority_threshold = 2;
  QuotaNodeId own = house.queue("own", "team", 0), other = house.queue("other", "team", 2);
  house.queue("lender", "team", 4);
  WorkloadId low = house.runs(other, 3, 2, 1);
  house.runs(other, 3, 3, 2);
  FlavorResourceAmount usage{kCpu, n(3)};
  Preemptor preemptor{own, &config, 5, second(9)};
  auto targets = house.preemption.targets(preemptor, {&kCpu, 1}, {&usage, 1});
  ASSERT_EQ(targets.size(), 1u);
  EXPECT_EQ(targets[0], (Target{low, PreemptionReason::kInCohortReclaimWhileBorrowing}));
}

// The rules implemented again, with complete lists and sorting, to compare with the incremental iteration.
class Naive {
 public:
  Naive(House& house, const Preemptor& preemptor, std::vector<FlavorResourceId> ids, Usage usage)
      : house_(house), ledger_(house.ledger), who_(preemptor), ids_(std::move(ids)), usage_(std::move(usage)) {}

  std::vector<Target> targets() {
    if (who_.config->within_cluster_queue != WithinClusterQueue::kNever) add(who_.queue, QuotaNodeId(), 2);
    if (who_.config->reclaim_within_cohort != ReclaimWithinCohort::kNever) {
      auto remaining = usage_;
      bool advantage = quota_fits(who_.queue, remaining);
      QuotaNodeId skip;
      for (QuotaNodeId c = ledger_.parent(who_.queue); c.valid(); skip = c, c = ledger_.parent(c)) {
        below(c, c, skip, advantage ? 0 : 1);
        bool fits = quota_fits(c, remaining);
        advantage = advantage || fits;
      }
    }
    std::sort(all_.begin(), all_.end(), [this](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
    bool elsewhere = std::any_of(all_.begin(), all_.end(), [](const Candidate& c) { return c.kind < 2; });
    bool hierarchical = std::any_of(all_.begin(), all_.end(), [](const Candidate& c) { return c.kind == 0; });
    bool forbidden = who_.config->borrow_within_cohort == BorrowWithinCohort::kNever;
    bool under = std::all_of(ids_.begin(), ids_.end(), [this](FlavorResourceId id) {
      return ledger_.usage(who_.queue, id) < ledger_.quota(who_.queue, id).nominal;
    });
    std::vector<bool> attempts = {true, false};
    if (!elsewhere || (forbidden && !under))
      attempts = {true};
    else if (forbidden && !hierarchical)
      attempts = {false, true};
    for (bool borrow : attempts) {
      auto found = attempt(borrow);
      if (!found.empty()) return found;
    }
    return {};
  }

 private:
  struct Candidate {
    WorkloadId workload;
    QuotaNodeId queue, lca;
    int kind;  // 0 hierarchical, 1 priority, 2 own queue
    PreemptionReason reason;
    bool never_borrowing;
  };
  std::tuple<bool, int, int, Time::duration, std::string> rank(const Candidate& c) const {
    const Slot& s = house_.slots[c.workload];
    return {!s.evicted, c.kind, s.priority, -s.reserved_at.time_since_epoch(), s.who->uid};
  }
  bool quota_fits(QuotaNodeId node, Usage& remaining) const {
    bool fits = true;
    for (auto& each : remaining) {
      if (ledger_.usage(node, each.id) + each.amount > ledger_.subtree_quota(node, each.id)) fits = false;
      each.amount = max(Amount(), each.amount - ledger_.local_available(node, each.id));
    }
    return fits;
  }
  bool within(QuotaNodeId node) const {
    return std::all_of(ids_.begin(), ids_.end(),
                       [&](FlavorResourceId id) { return ledger_.usage(node, id) <= ledger_.subtree_quota(node, id); });
  }
  void below(QuotaNodeId cohort, QuotaNodeId lca, QuotaNodeId skip, int kind) {
    for (QuotaNodeId child : ledger_.children(cohort)) {
      if (child == skip || child == who_.queue || within(child)) continue;
      if (ledger_.is_cluster_queue(child))
        add(child, lca, kind);
      else
        below(child, lca, skip, kind);
    }
  }
  void add(QuotaNodeId queue, QuotaNodeId lca, int kind) {
    for (WorkloadId w : house_.workloads) {
      const Slot& s = house_.slots[w];
      if (s.queue != queue) continue;
      bool uses = false;
      for (const auto& each : ledger_.claim(w)->usage) uses = uses || std::count(ids_.begin(), ids_.end(), each.id) > 0;
      bool lower = s.priority < who_.priority;
      bool allowed =
          kind == 2 ? lower || (who_.config->within_cluster_queue == WithinClusterQueue::kLowerOrNewerEqualPriority &&
                                s.priority == who_.priority && who_.queued_at < s.queued_at)
                    : lower || who_.config->reclaim_within_cohort == ReclaimWithinCohort::kAny;
      if (!uses || !allowed) continue;
      Candidate c{w, queue, lca, kind, PreemptionReason::kInCohortReclamation, false};
      if (kind == 2) c.reason = PreemptionReason::kInClusterQueue;
      if (kind == 1) {
        auto limit = who_.config->borrow_max_priority_threshold;
        bool may = who_.config->borrow_within_cohort != BorrowWithinCohort::kNever && lower &&
                   (!limit || s.priority <= *limit);
        c.never_borrowing = !may;
        if (may) c.reason = PreemptionReason::kInCohortReclaimWhileBorrowing;
      }
      all_.push_back(c);
    }
  }
  bool fits(bool borrow) const {
    return std::all_of(usage_.begin(), usage_.end(), [&](const auto& each) {
      if (!borrow && ledger_.borrowing_with(who_.queue, each.id, each.amount)) return false;
      return each.amount <= ledger_.available(who_.queue, each.id);
    });
  }
  std::vector<Target> attempt(bool borrow) {
    Ledger::Trial trial(ledger_);
    std::vector<Target> out;
    for (const Candidate& c : all_) {
      if (borrow && c.never_borrowing) continue;
      bool valid = true;
      for (QuotaNodeId at = c.queue; c.kind < 2 && at != c.lca; at = ledger_.parent(at)) valid = valid && !within(at);
      if (!valid) continue;
      trial.without(c.workload);
      out.push_back({c.workload, c.reason});
      if (!fits(borrow)) continue;
      for (int i = static_cast<int>(out.size()) - 2; i >= 0; --i) {
        trial.again(out[i].workload);
        if (fits(borrow)) {
          out[i] = out.back();
          out.pop_back();
        } else {
          trial.without(out[i].workload);
        }
      }
      return out;
    }
    return {};
  }
  House& house_;
  Ledger& ledger_;
  Preemptor who_;
  std::vector<FlavorResourceId> ids_;
  Usage usage_;
  std::vector<Candidate> all_;
};

struct RandomHouse : House {
  explicit RandomHouse(unsigned seed) : random(seed) {
    std::vector<std::string> cohorts{"", "left", "right", "root"};
    std::vector<QuotaEntry> some{{kCpu, {n(pick(0, 3))}}};
    if (pick(0, 1)) ledger.set_cohort("left", "root", some);
    if (pick(0, 1)) ledger.set_cohort("right", "root", {});
    for (int i = 0; i < 5; ++i) {
      queues.push_back(queue("q" + std::to_string(i), cohorts[static_cast<std::size_t>(pick(i ? 0 : 1, 3))], pick(0, 6),
                             pick(0, 6)));
    }
    for (int i = pick(3, 14); i-- > 0;) {
      runs(queues[static_cast<std::size_t>(pick(0, 4))], pick(0, 4), pick(0, 3), pick(0, 5), pick(0, 5) == 0,
           pick(0, 3));
    }
    config.within_cluster_queue = static_cast<WithinClusterQueue>(pick(0, 2));
    config.reclaim_within_cohort = static_cast<ReclaimWithinCohort>(pick(0, 2));
    config.borrow_within_cohort = static_cast<BorrowWithinCohort>(pick(0, 1));
    if (pick(0, 1)) config.borrow_max_priority_threshold = pick(0, 3);
    preemptor = {queues[0], &config, pick(0, 4), second(pick(0, 6))};
    usage = {{kCpu, n(pick(1, 8))}};
    if (pick(0, 1)) usage.push_back({kMemory, n(pick(1, 6))});
    for (const auto& each : usage) {
      if (each.amount > ledger.available(queues[0], each.id)) ids.push_back(each.id);
    }
  }
  int pick(int low, int high) { return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1)); }
  std::mt19937 random;
  std::vector<QuotaNodeId> queues;
  QueueConfig config;
  Preemptor preemptor;
  Usage usage;
  std::vector<FlavorResourceId> ids;
};

TEST(PreemptionProperty, EqualsTheRulesWrittenPlainly) {
  int found = 0;
  for (unsigned seed = 0; seed < 20000 / testing_support::kFewer; ++seed) {
    RandomHouse house(seed);
    if (house.ids.empty() || !house.config.preempts()) continue;
    auto targets = house.preemption.targets(house.preemptor, house.ids, house.usage);
    EXPECT_EQ(targets, Naive(house, house.preemptor, house.ids, house.usage).targets()) << "seed " << seed;
    found += targets.empty() ? 0 : 1;
    if (HasFailure()) break;
  }
  EXPECT_GT(found, 1000 / testing_support::kFewer);
}

TEST(PreemptionProperty, VictimsSufficeAndEachIsNeeded) {
  for (unsigned seed = 0; seed < 20000 / testing_support::kFewer; ++seed) {
    RandomHouse house(seed);
    if (house.ids.empty()) continue;
    auto targets = house.preemption.targets(house.preemptor, house.ids, house.usage);
    if (targets.empty()) {
      // With candidates only in the own queue: if all of them together do not suffice, no subset does.
      if (house.config.reclaim_within_cohort != ReclaimWithinCohort::kNever) continue;
      Ledger::Trial trial(house.ledger);
      for (WorkloadId w : house.workloads) {
        const Slot& slot = house.slots[w];
        bool lower = slot.priority < house.preemptor.priority;
        bool newer = slot.priority == house.preemptor.priority && house.preemptor.queued_at < slot.queued_at &&
                     house.config.within_cluster_queue == WithinClusterQueue::kLowerOrNewerEqualPriority;
        if (slot.queue != house.preemptor.queue || house.config.within_cluster_queue == WithinClusterQueue::kNever)
          continue;
        bool uses = std::any_of(house.ids.begin(), house.ids.end(), [&](FlavorResourceId id) {
          const Usage& usage = house.ledger.claim(w)->usage;
          return std::any_of(usage.begin(), usage.end(), [&](const auto& each) { return each.id == id; });
        });
        if (uses && (lower || newer)) trial.without(w);
      }
      ASSERT_FALSE(house.ledger.fits(house.preemptor.queue, house.usage)) << "seed " << seed;
      continue;
    }
    auto fits = [&](bool borrowing) {
      bool borrows = std::any_of(house.usage.begin(), house.usage.end(), [&](const auto& each) {
        return house.ledger.borrowing_with(house.preemptor.queue, each.id, each.amount);
      });
      return (borrowing || !borrows) && house.ledger.fits(house.preemptor.queue, house.usage);
    };
    Ledger::Trial trial(house.ledger);
    for (const Target& each : targets) trial.without(each.workload);
    ASSERT_TRUE(fits(true)) << "seed " << seed;
    bool without_borrowing = fits(false);
    for (const Target& each : targets) {
      trial.again(each.workload);
      ASSERT_FALSE(fits(!without_borrowing)) << "seed " << seed;
      trial.without(each.workload);
    }
  }
}

}  // namespace
}  // namespace berth::engine::preemption_test
