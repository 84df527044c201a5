// The order of admission under fair sharing: examples computed by hand, and cycles of random trees against a plain
// implementation.
#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <map>
#include <random>

#include "engine/schedule/world.h"
#include "support/sanitized.h"

namespace berth::engine::fair_order_test {
namespace {

using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;
using Rational = boost::multiprecision::cpp_rational;
using Texts = std::vector<std::string>;

SchedulerOptions fair() {
  SchedulerOptions options;
  options.fair_sharing.enabled = true;
  return options;
}

// A cohort whose queues have no quota of their own and share `cpu`.
struct Pool : World {
  explicit Pool(const std::string& cpu, SchedulerOptions options = fair()) : World(options) {
    flavor("f");
    cohort("pool", "", {{"f", {{"cpu", cpu}}}});
  }
  static QueueSpec member(const std::string& name, const std::string& weight = "1", const std::string& own = "0") {
    return QueueSpec(name).in("pool").flavor("f", {{"cpu", own}}).weighs(weight);
  }
  void jobs(const std::string& queue, int count, const std::string& cpu = "1", int priority = 0) {
    for (int i = 1; i <= count; ++i)
      job({.name = queue + std::to_string(i), .queue = queue, .requests = {{"cpu", cpu}}, .priority = priority});
  }
};

TEST(FairOrder, EqualWeightsTakeTurns) {
  Pool pool("5");
  pool.queue(Pool::member("a"));
  pool.queue(Pool::member("b"));
  pool.jobs("a", 9);
  pool.jobs("b", 9);
  EXPECT_EQ(pool.moves(), (Texts{"admit a1", "admit b1", "admit a2", "admit b2", "admit a3"}));
}

TEST(FairOrder, WithoutFairSharingTheOldestComesFirst) {
  Pool pool("4", {});
  pool.queue(Pool::member("a"));
  pool.queue(Pool::member("b"));
  pool.jobs("a", 3);
  pool.jobs("b", 3);
  // one head of each queue at a time
  EXPECT_EQ(pool.moves(), (Texts{"admit a1", "admit b1", "admit a2", "admit b2"}));
  pool.finish("b1");
  pool.finish("b2");
  EXPECT_EQ(pool.moves(), (Texts{"admit a3", "admit b3"}));
}

TEST(FairOrder, TheOneWithTheSmallerShareGoesFirstThoughYounger) {
  Pool pool("4");
  pool.queue(Pool::member("a"));
  pool.queue(Pool::member("b"));
  pool.jobs("a", 4);
  EXPECT_EQ(pool.moves().size(), 4u);
  pool.job({.name = "a5", .queue = "a", .priority = 9});
  pool.jobs("b", 3);
  pool.moves();
  pool.finish("a1");
  EXPECT_EQ(pool.moves(), Texts{"admit b1"});  // b would have 1 of 4, a 4 of 4, whatever the priority
  pool.finish("a2");
  EXPECT_EQ(pool.moves(), Texts{"admit b2"});
  pool.finish("a3");
  EXPECT_EQ(pool.moves(), Texts{"admit a5"});  // 2 of 4 against 3 of 4
}

TEST(FairOrder, PriorityThenAgeDecideBetweenEqualShares) {
  Pool pool("1");
  for (const char* name : {"a", "b", "c"}) pool.queue(Pool::member(name));
  pool.job({.name = "a1", .queue = "a"});
  pool.job({.name = "b1", .queue = "b", .priority = 1});
  pool.job({.name = "c1", .queue = "c", .priority = 1});
  EXPECT_EQ(pool.moves(), Texts{"admit b1"});
  pool.finish("b1");
  EXPECT_EQ(pool.moves(), Texts{"admit c1"});
}

// With weights 2 and 1, the shares of 6 cpu are 4 and 2. While there is free quota, each cycle admits one head per
// queue, so turns come in pairs. Preemption does the rest: with a fourth workload, a's share 4/2 sixths equals b's
// share 2 after one victim.
TEST(FairOrder, WeightsSetTheProportion) {
  Pool pool("6");
  pool.queue(Pool::member("a", "2").reclaim(ReclaimWithinCohort::kAny));
  pool.queue(Pool::member("b", "1").reclaim(ReclaimWithinCohort::kAny));
  pool.jobs("a", 9);
  pool.jobs("b", 9);
  EXPECT_EQ(pool.moves(), (Texts{"admit a1", "admit b1", "admit a2", "admit b2", "admit a3", "admit b3",
                                 "preempt b1 for a4 (InCohortFairSharing)"}));
  pool.stopped("b1");
  EXPECT_EQ(pool.moves(), Texts{"admit a4"});
  EXPECT_EQ(pool.moves(), Texts());
}

TEST(FairOrder, WhoHasNoWeightBorrowsLast) {
  Pool pool("2");
  pool.queue(Pool::member("a", "0"));
  pool.queue(Pool::member("b", "1"));
  pool.queue(Pool::member("c", "0", "1"));
  pool.jobs("a", 2, "1", 9);
  pool.jobs("b", 2);
  pool.jobs("c", 2);
  // c1 borrows nothing. The share of a is infinite, and so is the share of c with a second workload.
  EXPECT_EQ(pool.moves(), (Texts{"admit c1", "admit b1", "admit a1"}));
  pool.finish("a1");
  EXPECT_EQ(pool.moves(), Texts{"admit b2"});
}

// a already borrows memory, but has enough cpu of its own.
TEST(FairOrder, NotBorrowingOfWhatIsAskedForComesFirst) {
  for (const bool prioritize : {true, false}) {
    SchedulerOptions options = fair();
    options.fair_sharing.prioritize_non_borrowing = prioritize;
    World world(options);
    world.flavor("f");
    world.cohort("pool", "", {{"f", {{"cpu", "10"}, {"memory", "10"}}}});
    world.queue(QueueSpec("a").in("pool").flavor("f", {{"cpu", "1"}, {"memory", "0"}}));
    world.queue(QueueSpec("b").in("pool").flavor("f", {{"cpu", "0"}, {"memory", "0"}}));
    world.job({.name = "a0", .queue = "a", .requests = {{"memory", "5"}}});
    EXPECT_EQ(world.moves(), Texts{"admit a0"});
    world.job({.name = "b1", .queue = "b"});
    world.job({.name = "a1", .queue = "a"});
    EXPECT_EQ(world.moves(), prioritize ? (Texts{"admit a1", "admit b1"}) : (Texts{"admit b1", "admit a1"}));
  }
}

// In each cohort the best child wins; the shares of cohorts decide on the level above.
TEST(FairOrder, IsATournamentUpTheTree) {
  World world(fair());
  world.flavor("f");
  world.cohort("root", "", {{"f", {{"cpu", "4"}}}});
  world.cohort("left", "root", {}, "1");
  world.cohort("right", "root", {}, "1");
  for (const auto& [queue, cohort] : std::map<std::string, std::string>{{"a", "left"}, {"b", "left"}, {"c", "right"}})
    world.queue(QueueSpec(queue).in(cohort).flavor("f", {{"cpu", "0"}}));
  for (const char* name : {"a1", "a2", "b1", "b2", "c1", "c2", "c3"})
    world.job({.name = name, .queue = std::string(1, name[0])});
  // First cycle: a1 (the oldest), then c1, since left has 1 of 4; then b1. Second: left has 2 and right 1: c2. Now it
  // is full.
  EXPECT_EQ(world.moves(), (Texts{"admit a1", "admit c1", "admit b1", "admit c2"}));
  world.finish("c1");
  world.finish("c2");
  EXPECT_EQ(world.moves(), (Texts{"admit c3", "admit a2"}));
}

TEST(FairOrder, PreemptsForItsShareAndIsNotPreemptedBack) {
  Pool pool("6");
  for (const char* name : {"a", "b"}) {
    pool.queue(Pool::member(name).reclaim(ReclaimWithinCohort::kAny).within(WithinClusterQueue::kLowerPriority));
  }
  pool.jobs("a", 8);
  EXPECT_EQ(pool.moves().size(), 6u);
  pool.jobs("b", 8);
  std::size_t preempted = 0;
  for (int round = 0; round < 50; ++round) {
    for (const std::string& text : pool.moves()) {
      if (!text.starts_with("preempt")) continue;
      EXPECT_NE(text.find("(InCohortFairSharing)"), std::string::npos);
      const std::string victim = text.substr(8, 2);
      EXPECT_EQ(victim[0], 'a');
      pool.stopped(victim);
      ++preempted;
    }
  }
  EXPECT_EQ(preempted, 3u);  // three each, and no more preemptions
  EXPECT_EQ(pool.scheduler.pending_count("a"), 5u);
  EXPECT_EQ(pool.scheduler.pending_count("b"), 5u);
  EXPECT_EQ(pool.scheduler.check(), Texts());
}

TEST(FairOrder, AnotherWeightIsActedUpon) {
  Pool pool("6");
  for (const char* name : {"a", "b"}) pool.queue(Pool::member(name).reclaim(ReclaimWithinCohort::kAny));
  pool.jobs("a", 6);
  pool.moves();
  pool.jobs("b", 1, "4");
  EXPECT_EQ(pool.moves(), Texts());  // b would have 4 of 6, a in the end 2
  pool.queue(Pool::member("b", "2").reclaim(ReclaimWithinCohort::kAny));
  EXPECT_EQ(pool.moves().size(), 4u);  // 2 of 6 is not more than a's 2
}

// --- Against a plain implementation: before each choice, the shares of all remaining heads from the ledger's
// numbers.

struct Head {
  std::string name, queue;
  std::int64_t cpu = 0, memory = 0;
  int priority = 0;
  std::int64_t second = 0;
};

class PlainRules {
 public:
  PlainRules(const World& world, bool prioritize)
      : ledger_(world.scheduler.ledger()), names_(world.scheduler.names()), prioritize_(prioritize) {
    copy_ = std::make_unique<Ledger>(ledger_);
  }
  // The heads in the order of admission, while all fit.
  std::vector<std::string> order(std::vector<Head> heads) {
    std::vector<std::string> out;
    std::size_t workload = 100'000;
    while (!heads.empty()) {
      const QuotaNodeId root = ledger_.root(ledger_.find_cluster_queue(heads.front().queue));
      const Head best = *best_below(root, heads);
      out.push_back("admit " + best.name);
      copy_->take(WorkloadId(workload++), ledger_.find_cluster_queue(best.queue), usage(best));
      std::erase_if(heads, [&](const Head& each) { return each.name == best.name; });
    }
    return out;
  }

 private:
  Usage usage(const Head& head) const {
    return {{id("cpu"), Amount::of(head.cpu * 1000)}, {id("memory"), Amount::of(head.memory)}};
  }
  FlavorResourceId id(std::string_view resource) const {
    return names_.find_pair(names_.find_flavor("f"), names_.find_resource(resource));
  }

  std::optional<Head> best_below(QuotaNodeId cohort, const std::vector<Head>& heads) {
    std::optional<Head> best;
    QuotaNodeId best_node;
    for (const QuotaNodeId child : ledger_.children(cohort)) {
      std::optional<Head> one;
      if (!ledger_.is_cluster_queue(child)) {
        one = best_below(child, heads);
      } else {
        for (const Head& each : heads) {
          if (ledger_.find_cluster_queue(each.queue) == child) one = each;
        }
      }
      if (!one || (best && !before(*one, child, *best, best_node))) continue;
      best = one;
      best_node = child;
    }
    return best;
  }
  bool before(const Head& a, QuotaNodeId at_a, const Head& b, QuotaNodeId at_b) {
    return rank(a, at_a) < rank(b, at_b);
  }
  std::tuple<bool, bool, Rational, int, std::int64_t, std::string> rank(const Head& head, QuotaNodeId node) {
    Ledger::Trial trial(*copy_);
    trial.with(ledger_.find_cluster_queue(head.queue), usage(head));
    bool borrows = false, asked = false;
    Rational share = 0;
    for (const char* resource : {"cpu", "memory"}) {
      const FlavorResourceId pair = id(resource);
      const auto over = copy_->usage(node, pair).count() - copy_->subtree_quota(node, pair).count();
      const auto lendable = copy_->potential_available(copy_->parent(node), pair).count();
      borrows = borrows || over > 0;
      asked = asked || (over > 0 && (std::string_view(resource) == "cpu" ? head.cpu : head.memory) > 0);
      if (over > 0 && lendable > 0) share = std::max(share, Rational(over, lendable));
    }
    const FairWeight w = copy_->weight(node);
    const bool infinite = borrows && w.numerator == 0;
    if (w.numerator != 0) share = share * w.denominator / w.numerator;
    return {prioritize_ && asked, infinite, share, -head.priority, head.second, head.name};
  }

  const Ledger& ledger_;
  const Names& names_;
  bool prioritize_;
  std::unique_ptr<Ledger> copy_;
};

TEST(FairOrderProperty, EqualsThePlainRules) {
  for (unsigned seed = 0; seed < 800 / testing_support::kFewer; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    const auto text = [&](int low, int high) { return std::to_string(pick(low, high)); };
    SchedulerOptions options = fair();
    options.fair_sharing.prioritize_non_borrowing = seed % 3 != 0;
    World world(options);
    world.flavor("f");
    world.cohort("root", "", {{"f", {{"cpu", "900"}, {"memory", "900"}}}});
    const std::vector<std::string> cohorts{"root", "left", "right", "deep"};
    world.cohort("left", "root", {}, text(0, 3));
    world.cohort("right", "root", {}, text(1, 3));
    world.cohort("deep", "left", {}, "0.5");
    for (int q = 0; q < 6; ++q) {
      world.queue(QueueSpec("q" + std::to_string(q))
                      .in(cohorts[static_cast<std::size_t>(pick(0, 3))])
                      .flavor("f", {{"cpu", text(0, 6), "", pick(0, 1) ? "" : text(0, 4)}, {"memory", text(0, 6)}})
                      .weighs(text(0, 3)));
    }
    std::vector<Head> heads;
    for (int i = 0; i < 12; ++i) {
      Head head{"w" + std::to_string(i), "q" + text(0, 5), pick(0, 5), pick(0, 3), pick(0, 2), pick(1, 9)};
      const bool second_round = i >= 6;
      const JobSpec job{.name = head.name,
                        .queue = head.queue,
                        .requests = {{"cpu", std::to_string(head.cpu)}, {"memory", std::to_string(head.memory)}},
                        .priority = head.priority,
                        .second = head.second};
      if (second_round && std::ranges::any_of(heads, [&](const Head& each) { return each.queue == head.queue; }))
        continue;
      if (second_round) heads.push_back(head);
      world.job(job);
      if (i == 5) world.moves();
    }
    const Texts expected = PlainRules(world, options.fair_sharing.prioritize_non_borrowing).order(heads);
    ASSERT_EQ(world.moves(), expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace berth::engine::fair_order_test
