// Parked workloads are woken by every event that could allow them to be admitted.
#include <gtest/gtest.h>

#include <random>

#include "support/sanitized.h"
#include "world.h"

namespace berth::engine::wake_test {
namespace {

using Texts = std::vector<std::string>;
using api::kueue::FungibilityPolicy;
using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;

TEST(Waking, ReducibleWorkloadWakesForItsMinimumThoughTheWholeCanNeverFit) {
  World world;
  world.flavor("f");
  world.queue(QueueSpec("q").flavor("f", {{"cpu", "4"}}));
  world.job({.name = "runs", .queue = "q", .count = 3});
  world.job({.name = "part", .queue = "q", .count = 6, .min_count = 2});
  EXPECT_EQ(world.moves(), Texts{"admit runs"});
  EXPECT_TRUE(world.scheduler.parked(world.id("part")));
  world.finish("runs");
  EXPECT_EQ(world.moves(), Texts{"admit part"});
}

// Fair shares count all flavors. `left` borrows f0 from the root, so what its queue borrows of f1 within `left` makes
// workloads there victims of queues outside.
TEST(Waking, BorrowingWithinACohortOfAnotherFlavorIsNewsForTheTreeAbove) {
  SchedulerOptions fair;
  fair.fair_sharing.enabled = true;
  World world(fair);
  for (const char* flavor : {"f0", "f1"}) world.flavor(flavor);
  world.cohort("root", "");
  world.cohort("left", "root");
  world.queue(QueueSpec("lender").in("root").flavor("f0", {{"cpu", "8"}}));
  world.queue(QueueSpec("greedy").in("left").flavor("f0", {{"cpu", "0"}}));
  world.queue(QueueSpec("near").in("left").flavor("f1", {{"cpu", "4"}}));
  world.queue(QueueSpec("spare").in("left").flavor("f1", {{"cpu", "3"}}));
  world.queue(QueueSpec("far").in("root").flavor("f1", {{"cpu", "0"}}).reclaim(ReclaimWithinCohort::kAny));
  world.job({.name = "borrower", .queue = "greedy", .count = 6});
  world.job({.name = "victim", .queue = "near", .count = 4});
  EXPECT_EQ(world.moves(), (Texts{"admit victim", "admit borrower"}));
  world.job({.name = "waits", .queue = "far", .count = 4});
  EXPECT_EQ(world.moves(), Texts());
  EXPECT_TRUE(world.scheduler.parked(world.id("waits")));
  world.job({.name = "borrowing", .queue = "near", .count = 3, .priority = 1});
  EXPECT_EQ(world.moves(), Texts{"admit borrowing"});
  EXPECT_EQ(world.moves(), Texts{"preempt victim for waits (InCohortFairSharing)"});
}

TEST(Waking, LosingARaceForOneFlavorDoesNotForgetThatFlavor) {
  World world;
  world.flavor("one");
  world.flavor("two");
  for (const char* name : {"a", "b"}) {
    QueueSpec spec = QueueSpec(name).in("team").flavor("one", {{"cpu", "0"}}).flavor("two", {{"cpu", "0"}});
    world.queue(spec);
  }
  world.cohort("team", "", {{"one", {{"cpu", "5"}}}, {"two", {{"cpu", "1"}}}});
  // Both fit in flavor one. After the first, only two cpu are left there, and none in flavor two.
  world.job({.name = "first", .queue = "a", .count = 3, .priority = 1});
  world.job({.name = "second", .queue = "b", .count = 3});
  EXPECT_EQ(world.moves(), Texts{"admit first"});
  EXPECT_TRUE(world.scheduler.parked(world.id("second")));
  world.finish("first");
  EXPECT_EQ(world.moves(), Texts{"admit second"});
}

TEST(Waking, ReleaseOfWhatNobodyLackedWakesNobody) {
  World world;
  world.flavor("f");
  world.flavor("g");
  world.queue(QueueSpec("q").in("team").flavor("f", {{"cpu", "4"}}));
  world.queue(QueueSpec("r").in("team").flavor("g", {{"cpu", "4"}}));
  world.job({.name = "runs", .queue = "q", .count = 4});
  world.job({.name = "other", .queue = "r", .count = 4});
  world.job({.name = "waits", .queue = "q", .count = 2});
  EXPECT_EQ(world.moves(), (Texts{"admit runs", "admit other"}));
  world.finish("other");
  EXPECT_EQ(world.schedule(), Texts{});
  EXPECT_TRUE(world.scheduler.parked(world.id("waits")));
}

TEST(Waking, ConfigurationThatMayHelpWakes) {
  World world;
  world.flavor("f");
  QueueSpec small = QueueSpec("q").in("team").flavor("f", {{"cpu", "1"}});
  world.queue(small);
  world.job({.name = "j", .queue = "q", .count = 3});
  EXPECT_EQ(world.moves(), Texts{});
  world.queue(small);
  EXPECT_EQ(world.schedule(), Texts{});
  world.queue(QueueSpec("lender").in("team").flavor("f", {{"cpu", "1"}}));
  EXPECT_EQ(world.moves(), Texts{});
  world.cohort("team", "", {{"f", {{"cpu", "1"}}}});
  EXPECT_EQ(world.moves(), Texts{"admit j"});
}

// Quota can be reclaimed from a queue that borrows: so an admission in another queue creates victims.
TEST(Waking, WhoeverMayTakeBackWakesWhenOthersBorrow) {
  World world;
  world.flavor("f");
  world.queue(QueueSpec("lender").in("team").flavor("f", {{"cpu", "2"}}));
  world.queue(QueueSpec("b").in("team").flavor("f", {{"cpu", "4"}}));
  world.queue(
      QueueSpec("a").in("team").flavor("f", {{"cpu", "0"}}).reclaim(ReclaimWithinCohort::kAny).borrow_preempting());
  world.job({.name = "big", .queue = "b", .count = 4, .priority = -1});
  world.job({.name = "waits", .queue = "a", .count = 3, .priority = 1});
  EXPECT_EQ(world.moves(), Texts{"admit big"});
  EXPECT_TRUE(world.scheduler.parked(world.id("waits")));
  world.job({.name = "small", .queue = "b", .count = 1});
  EXPECT_EQ(world.moves(), Texts{"admit small"});
  EXPECT_TRUE(world.scheduler.wants_pass());
  EXPECT_EQ(world.moves(), Texts{"preempt big for waits (InCohortReclaimWhileBorrowing)"});
}

TEST(Waking, WhoNoLongerHasToBorrowTakesBackWhatItLacks) {
  World world;
  world.flavor("f");
  world.queue(
      QueueSpec("a").in("team").flavor("f", {{"cpu", "1"}, {"memory", "2"}}).reclaim(ReclaimWithinCohort::kAny));
  world.queue(QueueSpec("b").in("team").flavor("f", {{"cpu", "5"}, {"memory", "2"}}));
  world.job({.name = "own", .queue = "a"});
  world.job({.name = "taker", .queue = "b", .requests = {{"memory", "3"}}});
  world.job({.name = "waits", .queue = "a", .requests = {{"cpu", "1"}, {"memory", "2"}}});
  EXPECT_EQ(world.moves(), (Texts{"admit own", "admit taker"}));
  EXPECT_TRUE(world.scheduler.parked(world.id("waits")));  // enough cpu exists, but it is borrowed
  world.finish("own");
  EXPECT_EQ(world.moves(), Texts{"preempt taker for waits (InCohortReclamation)"});
}

// The head of a StrictFIFO queue that reserves its quota is not parked; it is evaluated again like parked workloads.
TEST(Waking, ABorrowingIsNewsForAStrictHeadThatReserves) {
  World world;
  world.flavor("f");
  world.queue(
      QueueSpec("strict").in("team").flavor("f", {{"cpu", "4"}}).strict().reclaim(ReclaimWithinCohort::kLowerPriority));
  world.queue(QueueSpec("lent").in("team").flavor("f", {{"cpu", "2"}}));
  world.queue(QueueSpec("other").in("team").flavor("f", {{"cpu", "0"}}));
  const auto holds = [&](const std::string& name, const std::string& queue, int cpus, int priority) {
    world.scheduler.hold(world.id(name),
                         {queue, priority, at_second(1), at_second(1), {{"f", "cpu", Amount::of(1000 * cpus)}}, false});
  };
  holds("old", "lent", 2, -1);
  holds("firm", "other", 1, 9);
  world.job({.name = "head", .queue = "strict", .count = 4, .priority = 5});
  EXPECT_EQ(world.moves(), Texts{}) << "one is missing, and nobody below that priority borrows";
  EXPECT_FALSE(world.scheduler.wants_pass());
  holds("more", "lent", 1, 0);  // reported by hold(), without an admission: the queue borrows now
  EXPECT_TRUE(world.scheduler.wants_pass());
  EXPECT_EQ(world.moves(), Texts{"preempt old for head (InCohortReclamation)"});
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

TEST(Waking, ASmallerShareWakesWhateverWasLacking) {
  SchedulerOptions options;
  options.fair_sharing = {true, true, false};
  World world(options);
  world.flavor("f");
  world.cohort("pool", "", {{"f", {{"cpu", "4"}, {"memory", "4"}}}});
  for (const char* name : {"a", "b"}) {
    world.queue(
        QueueSpec(name).in("pool").flavor("f", {{"cpu", "0"}, {"memory", "0"}}).reclaim(ReclaimWithinCohort::kAny));
  }
  world.job({.name = "own", .queue = "a", .requests = {{"memory", "3"}}});
  world.job({.name = "one", .queue = "b", .count = 2});
  world.job({.name = "other", .queue = "b", .count = 2, .priority = 1});
  EXPECT_EQ(world.moves().size(), 3u);
  world.job({.name = "waits", .queue = "a"});
  EXPECT_EQ(world.moves(), Texts{});
  EXPECT_TRUE(world.scheduler.parked(world.id("waits")));  // 3/4 of the memory, while b would keep half of the cpu
  world.finish("own");
  EXPECT_EQ(world.moves(), Texts{"preempt one for waits (InCohortFairSharing)"});
}

// A small cluster with random events: after every pass no parked workload could be admitted, and the same events give
// the same decisions.
class RandomLife {
 public:
  explicit RandomLife(unsigned seed, bool may_reconfigure = true) : random_(seed), may_reconfigure_(may_reconfigure) {
    for (const char* f : {"f0", "f1", "f2"}) world_.flavor(f, {{"kind", f}});
    for (int i = 0; i < kQueues; ++i) configure(i);
  }

  void step() {
    switch (pick(may_reconfigure_ ? 0 : 2, 11)) {
      case 0:
        configure(pick(0, kQueues - 1));
        break;
      case 1:
        world_.cohort("c" + std::to_string(pick(0, 1)), pick(0, 2) ? "root" : "",
                      {{"f0", {{"cpu", std::to_string(pick(0, 3))}, {"memory", std::to_string(pick(0, 3))}}}});
        break;
      case 2:
      case 3:
      case 4:
      case 5:
        submit();
        break;
      case 6:
      case 7:
      case 8:
        stop();
        break;
      case 9:
        evict();
        break;
      case 10:
      case 11:
        break;
    }
    if (pick(0, 2) > 0) pass();
  }

  void pass() {
    for (const std::string& each : world_.schedule()) log += each + "\n";
    for (const Decision& decision : world_.last) {
      if (const auto* preempt = std::get_if<Preempt>(&decision)) {
        evicted_.push_back(world_.names.at(preempt->target));
      }
    }
  }
  std::vector<std::string> check() { return world_.scheduler.check(); }
  // Nodes of the quota tree that use more than quotas and limits allow; only possible after quotas were lowered.
  std::vector<std::string> exceeded() {
    std::vector<std::string> all;
    const Ledger& ledger = world_.scheduler.ledger();
    for (QuotaNodeId queue : ledger.cluster_queues()) {
      for (std::size_t i = 0; i < world_.scheduler.names().pairs(); ++i) {
        FlavorResourceId id(i);
        for (QuotaNodeId node = queue; node.valid(); node = ledger.parent(node)) {
          Amount most = ledger.subtree_quota(node, id);
          if (ledger.parent(node).valid()) most += ledger.quota(node, id).borrowing_limit;
          if (ledger.usage(node, id) > most) all.push_back(ledger.path(node));
        }
      }
    }
    return all;
  }
  std::string log;

 private:
  static constexpr int kQueues = 4;
  int pick(int low, int high) { return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1)); }
  std::string few(int high) { return std::to_string(pick(0, high)); }

  void configure(int i) {
    QueueSpec spec("q" + std::to_string(i));
    std::string limit;
    if (pick(0, 3) > 0) {
      spec.in("c" + std::to_string(pick(0, 1)));
      if (pick(0, 2) == 0) limit = few(3);
    }
    int flavors = pick(1, 3);
    bool split = pick(0, 4) == 0;  // cpu and memory in separate groups
    for (int f = 0; f < flavors; ++f) {
      std::vector<QueueSpec::Limit> limits{{"cpu", few(6), limit}};
      if (!split) limits.push_back({"memory", few(6), limit});
      spec.flavor("f" + std::to_string(f), limits);
    }
    if (split && flavors < 3) spec.flavor("f2", {{"memory", few(6), limit}});
    if (pick(0, 3) == 0) spec.strict();
    spec.within(static_cast<WithinClusterQueue>(pick(0, 2))).reclaim(static_cast<ReclaimWithinCohort>(pick(0, 2)));
    if (pick(0, 2) == 0) spec.borrow_preempting();
    spec.object.when_can_borrow = static_cast<FungibilityPolicy>(pick(0, 1));
    spec.object.when_can_preempt = static_cast<FungibilityPolicy>(pick(0, 1));
    world_.scheduler.set_cluster_queue(spec.object, pick(0, 9) > 0);
  }

  void submit() {
    JobSpec job{.name = "w" + std::to_string(next_++), .queue = "q" + std::to_string(pick(0, kQueues - 1))};
    job.count = pick(1, 4);
    job.priority = pick(0, 2);
    job.requests = {{"cpu", few(2)}};
    if (pick(0, 2) > 0) job.requests["memory"] = few(2);
    if (pick(0, 3) == 0) job.min_count = pick(1, job.count);
    world_.job(job);
  }

  std::string anybody() {
    if (world_.ids.empty()) return "";
    return std::next(world_.ids.begin(), pick(0, static_cast<int>(world_.ids.size()) - 1))->first;
  }

  void stop() {
    std::string name = anybody();
    if (name.empty()) return;
    std::erase(evicted_, name);
    world_.finish(name);
  }

  // The job of an evicted workload has stopped, or a workload is evicted for another reason.
  void evict() {
    if (!evicted_.empty()) {
      std::string name = evicted_[static_cast<std::size_t>(pick(0, static_cast<int>(evicted_.size()) - 1))];
      std::erase(evicted_, name);
      return world_.stopped(name);
    }
    std::string name = anybody();
    if (!name.empty() && world_.scheduler.holds(world_.id(name))) {
      world_.hold(name, true);
      evicted_.push_back(name);
    }
  }

  World world_;
  std::vector<std::string> evicted_;
  int next_ = 0;
  std::mt19937 random_;
  bool may_reconfigure_;
};

TEST(WakingProperty, NobodySleepsWhoCouldBeLetIn) {
  constexpr unsigned kLives = 400 / testing_support::kFewer;
  constexpr int kSteps = 80;
  for (unsigned seed = 0; seed < kLives; ++seed) {
    RandomLife life(seed);
    for (int i = 0; i < kSteps; ++i) {
      life.step();
      auto broken = life.check();
      ASSERT_TRUE(broken.empty()) << "seed " << seed << " step " << i << ": " << broken.front() << "\n" << life.log;
    }
  }
}

TEST(WakingProperty, AdmissionNeverExceedsQuotasAndLimits) {
  for (unsigned seed = 0; seed < 400 / testing_support::kFewer; ++seed) {
    RandomLife life(seed, false);
    for (int i = 0; i < 80; ++i) {
      life.step();
      auto exceeded = life.exceeded();
      ASSERT_TRUE(exceeded.empty()) << "seed " << seed << " step " << i << ": " << exceeded.front() << "\n" << life.log;
    }
  }
}

TEST(WakingProperty, TheSameLifeGivesTheSameDecisions) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    RandomLife one(seed), two(seed);
    for (int i = 0; i < 100; ++i) {
      one.step();
      two.step();
    }
    ASSERT_EQ(one.log, two.log) << "seed " << seed;
    ASSERT_NE(one.log.find("admit"), std::string::npos);
  }
}

}  // namespace
}  // namespace berth::engine::wake_test
