// Victims under fair sharing: examples computed by hand, and small random trees against a plain implementation.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <map>
#include <random>
#include <set>

#include "engine/schedule/house.h"
#include "support/sanitized.h"

namespace berth::engine::fair_preemption_test {
namespace {

using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;
using Rational = boost::multiprecision::cpp_rational;

FairSharing rules(bool final_share = true, bool initial_share = true) { return {true, final_share, initial_share}; }

// Three queues with a quota of 2 each; queue a may reclaim from any workload.
struct Team : House {
  explicit Team(FairSharing by = rules()) : House(by) { config.reclaim_within_cohort = ReclaimWithinCohort::kAny; }
  std::vector<Target> wants(std::int64_t cpu, int priority = 0) {
    const FlavorResourceAmount usage{kCpu, n(cpu)};
    return preemption.targets({a, &config, priority, second(99)}, {&kCpu, 1}, {&usage, 1});
  }
  QueueConfig config;
  NodeId a = queue("a", "team", 2), b = queue("b", "team", 2), c = queue("c", "team", 2);
};

std::vector<Target> all_of(const std::vector<WorkloadId>& workloads, PreemptionReason reason) {
  std::vector<Target> out;
  for (const WorkloadId each : workloads) out.push_back({each, reason});
  return out;
}

TEST(FairPreemption, TakesAsLongAsTheOtherKeepsAtLeastAsMuch) {
  Team team;
  std::vector<WorkloadId> late;
  for (int i = 0; i < 6; ++i) late.insert(late.begin(), team.runs(team.b, 1, 0, i));
  late.resize(3);
  // b borrows 4 of 6. With 3 cpu, a would borrow 1; so does b after three victims.
  EXPECT_EQ(team.wants(3), all_of(late, PreemptionReason::kInCohortFairSharing));
  // With 4 cpu, a would borrow 2, and b only 1 after the third victim; before it, both 2.
  EXPECT_EQ(team.wants(4), std::vector<Target>());
  team.ledger.set_weight(team.a, {2, 1});
  // half the share, 1/6, equals b's after three victims; b's after the fourth is 0
  EXPECT_EQ(team.wants(4), std::vector<Target>());
  team.ledger.set_weight(team.a, {3, 1});
  // 1/9: the fourth is refused at first, then chosen because of b's share of 1/6 before it
  EXPECT_EQ(team.wants(4).size(), 4u);
  EXPECT_EQ(team.wants(5), std::vector<Target>());
  EXPECT_TRUE(team.ledger.check().empty());
}

TEST(FairPreemption, TakesBackUnconditionallyWithinNominal) {
  Team team;
  const WorkloadId big = team.runs(team.b, 6, 9, 1);
  EXPECT_EQ(team.wants(2), all_of({big}, PreemptionReason::kInCohortReclamation));
  FairSharing by_share_alone = rules(true, false);
  by_share_alone.preempt_within_nominal = false;
  Team other(by_share_alone);
  const WorkloadId borrower = other.runs(other.b, 6, 9, 1);
  EXPECT_EQ(other.wants(2), all_of({borrower}, PreemptionReason::kInCohortFairSharing));  // 0 is not more than 0
}

TEST(FairPreemption, TheSecondStrategyComparesWithWhatWas) {
  for (const bool second_strategy : {false, true}) {
    Team team(rules(true, second_strategy));
    const WorkloadId big = team.runs(team.b, 6, 0, 1);
    // a would borrow 1 and b nothing afterwards: refused. Before, b borrowed 4.
    EXPECT_EQ(team.wants(3),
              second_strategy ? all_of({big}, PreemptionReason::kInCohortFairSharing) : std::vector<Target>());
  }
  Team team(rules(false, true));
  team.runs(team.b, 3, 0, 1);
  const WorkloadId later = team.runs(team.b, 3, 0, 2);
  EXPECT_EQ(team.wants(3), all_of({later}, PreemptionReason::kInCohortFairSharing));
  EXPECT_EQ(team.wants(5), std::vector<Target>());  // would borrow 3 where b, after its first victim, borrows 1
}

TEST(FairPreemption, LooksAtWhoHasTheLargestShare) {
  Team team;
  const WorkloadId of_b = team.runs(team.b, 3, 0, 1);
  const WorkloadId of_c = team.runs(team.c, 1, 5, 2), also_c = team.runs(team.c, 3, 9, 3);
  team.ledger.set_cohort("team", "", std::vector<QuotaEntry>{{kCpu, {n(1)}}});
  // c borrows 2 of 7 and b 1 of 7. After c's first victim both borrow 1, and b's workload comes before c's other one.
  EXPECT_EQ(team.wants(1), all_of({of_c}, PreemptionReason::kInCohortReclamation));
  // b's workload alone is enough: c's is put back
  EXPECT_EQ(team.wants(2), all_of({of_b}, PreemptionReason::kInCohortReclamation));
  team.config.reclaim_within_cohort = ReclaimWithinCohort::kLowerPriority;
  // c's workloads have no lower priority than 5
  EXPECT_EQ(team.wants(1, 5), all_of({of_b}, PreemptionReason::kInCohortReclamation));
  team.ledger.set_weight(team.b, {0, 1});
  team.config.reclaim_within_cohort = ReclaimWithinCohort::kAny;
  EXPECT_EQ(team.wants(1), all_of({of_b}, PreemptionReason::kInCohortReclamation));  // with weight 0, b comes first
  EXPECT_TRUE(team.slots.known(also_c));
}

TEST(FairPreemption, TheOwnQueueIsOneOfThem) {
  Team team;
  team.config.within_cluster_queue = WithinClusterQueue::kLowerPriority;
  const WorkloadId own = team.runs(team.a, 3, 0, 1);
  const WorkloadId of_b = team.runs(team.b, 3, 0, 2);
  // With 3 more, a would borrow 4 and b borrows 1: the victim is a's own workload.
  EXPECT_EQ(team.wants(3, 1), all_of({own}, PreemptionReason::kInClusterQueue));
  // With 1 more it borrows 2, like b with weight 1/2. At equal shares other queues come first, but then b would
  // borrow nothing.
  team.ledger.set_weight(team.b, {1, 2});
  EXPECT_EQ(team.wants(1, 1), all_of({own}, PreemptionReason::kInClusterQueue));
  EXPECT_TRUE(team.slots.known(of_b));
}

TEST(FairPreemption, SharesAreComparedWhereThePathsMeet) {
  House house(rules());
  QueueConfig config;
  config.reclaim_within_cohort = ReclaimWithinCohort::kAny;
  house.ledger.set_cohort("ours", "root", {});
  house.ledger.set_cohort("theirs", "root", {});
  const NodeId a = house.queue("a", "ours", 0), b = house.queue("b", "ours", 3), c = house.queue("c", "theirs", 0);
  house.queue("lender", "theirs", 3);
  const WorkloadId of_c1 = house.runs(c, 2, 0, 1), of_c2 = house.runs(c, 2, 0, 2), of_b = house.runs(b, 2, 0, 3);
  // 6 cpu in total, all used. c borrows 4, but its cohort only 1. a wants 1: its own cohort would be at 3 of 3, the
  // other has a share of 1/6, which one victim reduces to 0. 0 <= 0.
  const FlavorResourceAmount usage{kCpu, n(1)};
  const Preemptor preemptor{a, &config, 0, second(9)};
  EXPECT_EQ(house.preemption.targets(preemptor, {&kCpu, 1}, {&usage, 1}),
            all_of({of_c2}, PreemptionReason::kInCohortFairSharing));
  // With b's second workload, a's cohort is above 3 with any further usage: 2/6 is more than 0.
  house.runs(b, 2, 0, 4);
  const FlavorResourceAmount more{kCpu, n(2)};
  EXPECT_EQ(house.preemption.targets(preemptor, {&kCpu, 1}, {&more, 1}).size(), 0u);
  EXPECT_TRUE(house.slots.known(of_c1) && house.slots.known(of_b));
}

// The rules implemented again: complete lists, every share from quotas and usage at every step, rational numbers.
class Naive {
 public:
  Naive(House& house, const Preemptor& preemptor, std::vector<FlavorResourceId> ids, Usage usage)
      : house_(house), ledger_(house.ledger), who_(preemptor), ids_(std::move(ids)), usage_(std::move(usage)) {}

  std::vector<Target> targets() {
    const std::vector<WorkloadId> candidates = find_candidates();
    Ledger::Trial trial(ledger_);
    trial_ = &trial;
    trial.with(who_.queue, usage_);
    start(candidates);
    bool enough = first();
    if (!enough && house_.fair_sharing.final_share && house_.fair_sharing.initial_share) {
      start(refused_);
      enough = again();
    }
    if (enough) put_back();
    return enough ? targets_ : std::vector<Target>();
  }

 private:
  struct Share {
    bool infinite = false;
    Rational value;
    auto key() const { return std::pair(infinite, value); }
  };
  Share share(NodeId node) const {
    const NodeId parent = ledger_.parent(node);
    if (!parent.valid()) return {};
    Rational most = 0;
    for (const FlavorResourceId id : {kCpu, kMemory}) {
      const auto over = ledger_.usage(node, id).count() - ledger_.subtree_quota(node, id).count();
      const auto lendable = ledger_.potential_available(parent, id).count();
      if (over > 0 && lendable > 0) most = std::max(most, Rational(over, lendable));
    }
    const FairWeight w = ledger_.weight(node);
    if (w.numerator == 0) return {borrows(node), most};
    return {false, most * w.denominator / w.numerator};
  }
  bool borrows(NodeId node) const {
    return ledger_.parent(node).valid() &&
           (ledger_.borrowing_with(node, kCpu, {}) || ledger_.borrowing_with(node, kMemory, {}));
  }
  bool within_nominal(NodeId node) const {
    return std::ranges::none_of(ids_, [&](FlavorResourceId id) { return ledger_.borrowing_with(node, id, {}); });
  }
  std::vector<NodeId> ancestors(NodeId node) const {
    std::vector<NodeId> out;
    for (; node.valid(); node = ledger_.parent(node)) out.push_back(node);
    return out;
  }
  std::tuple<bool, bool, int, Time::duration, std::string> rank(WorkloadId w) const {
    const Slot& s = house_.slots[w];
    return {!s.evicted, s.queue == who_.queue, s.priority, -s.reserved_at.time_since_epoch(), s.who->uid};
  }
  std::vector<WorkloadId> find_candidates() const {
    std::vector<WorkloadId> out;
    for (const WorkloadId w : house_.workloads) {
      const Slot& s = house_.slots[w];
      const bool uses = std::ranges::any_of(ledger_.claim(w)->usage,
                                            [&](const auto& each) { return std::ranges::count(ids_, each.id) > 0; });
      const bool lower = s.priority < who_.priority;
      bool allowed = false;
      if (s.queue == who_.queue) {
        const auto policy = who_.config->within_cluster_queue;
        const bool newer = s.priority == who_.priority && who_.queued_at < s.queued_at;
        allowed = (policy != WithinClusterQueue::kNever && lower) ||
                  (policy == WithinClusterQueue::kLowerOrNewerEqualPriority && newer);
      } else if (ledger_.root(s.queue) == ledger_.root(who_.queue)) {
        const auto policy = who_.config->reclaim_within_cohort;
        allowed = (policy == ReclaimWithinCohort::kAny || (policy == ReclaimWithinCohort::kLowerPriority && lower)) &&
                  !within_nominal(s.queue);
      }
      if (uses && allowed) out.push_back(w);
    }
    std::ranges::sort(out, {}, [this](WorkloadId w) { return rank(w); });
    return out;
  }

  void start(const std::vector<WorkloadId>& candidates) {
    of_queue_.clear();
    pruned_.clear();
    for (const WorkloadId w : candidates) of_queue_[house_.slots[w].queue].push_back(w);
  }
  // The queue to take from; none: all were skipped.
  NodeId next_queue() {
    const NodeId root = ledger_.root(who_.queue);
    if (root == who_.queue) return of_queue_[root].empty() ? NodeId() : root;
    while (!pruned_.contains(root)) {
      if (const NodeId found = next_below(root); found.valid()) return found;
    }
    return {};
  }
  NodeId next_below(NodeId cohort) {
    NodeId best_queue, best_cohort;
    for (const NodeId child : ledger_.children(cohort)) {
      if (pruned_.contains(child)) continue;
      if (!ledger_.is_cluster_queue(child)) {
        const auto path = ancestors(who_.queue);
        if (!borrows(child) && std::ranges::find(path, child) == path.end()) {
          pruned_.insert(child);
        } else if (!best_cohort.valid() || share(child).key() > share(best_cohort).key()) {
          best_cohort = child;
        }
      } else if (of_queue_[child].empty() || (child != who_.queue && !borrows(child))) {
        pruned_.insert(child);
      } else if (!best_queue.valid() || share(child).key() > share(best_queue).key() ||
                 (share(child).key() == share(best_queue).key() &&
                  rank(of_queue_[child][0]) < rank(of_queue_[best_queue][0]))) {
        best_queue = child;
      }
    }
    if (best_cohort.valid() && (!best_queue.valid() || share(best_cohort).key() >= share(best_queue).key()))
      return next_below(best_cohort);
    if (!best_queue.valid()) pruned_.insert(cohort);
    return best_queue;
  }
  std::pair<NodeId, NodeId> just_below_meeting(NodeId queue) const {
    auto ours = ancestors(who_.queue), theirs = ancestors(queue);
    while (ours.back() == theirs.back()) {
      ours.pop_back();
      theirs.pop_back();
    }
    return {ours.back(), theirs.back()};
  }

  bool fits() {
    return std::ranges::none_of(usage_, [this](const FlavorResourceAmount& each) { return used_up(each.id); });
  }
  // What the queue can still get with its own request counted: negative means that it does not fit.
  bool used_up(FlavorResourceId id) const {
    std::int64_t room = 0;
    const auto path = ancestors(who_.queue);
    for (auto node = path.rbegin(); node != path.rend(); ++node) {
      const auto quota = ledger_.subtree_quota(*node, id).count(), used = ledger_.usage(*node, id).count();
      const auto local = ledger_.local_quota(*node, id).count();
      if (node == path.rbegin()) {
        room = quota - used;
      } else {
        const Amount limit = ledger_.quota(*node, id).borrowing_limit;
        const auto most = limit.is_unlimited()
                              ? room
                              : std::min(room, quota - local - std::max<std::int64_t>(0, used - local) + limit.count());
        room = std::max<std::int64_t>(0, local - used) + most;
      }
    }
    return room < 0;
  }
  bool take(NodeId queue, PreemptionReason reason) {
    const WorkloadId w = of_queue_[queue].front();
    of_queue_[queue].erase(of_queue_[queue].begin());
    trial_->without(w);
    targets_.push_back({w, reason});
    return fits();
  }
  bool first() {
    for (NodeId queue = next_queue(); queue.valid(); queue = next_queue()) {
      if (queue == who_.queue) {
        if (take(queue, PreemptionReason::kInClusterQueue)) return true;
        continue;
      }
      if (house_.fair_sharing.preempt_within_nominal && within_nominal(who_.queue)) {
        if (take(queue, PreemptionReason::kInCohortReclamation)) return true;
        continue;
      }
      const auto [ours, theirs] = just_below_meeting(queue);
      const auto own = share(ours).key(), before = share(theirs).key();
      while (!of_queue_[queue].empty()) {
        auto after = before;
        {
          Ledger::Trial trial(ledger_);
          trial.without(of_queue_[queue].front());
          after = share(theirs).key();
        }
        if (house_.fair_sharing.final_share ? own <= after : own < before) {
          if (take(queue, PreemptionReason::kInCohortFairSharing)) return true;
          break;
        }
        refused_.push_back(of_queue_[queue].front());
        of_queue_[queue].erase(of_queue_[queue].begin());
      }
    }
    return false;
  }
  bool again() {
    for (NodeId queue = next_queue(); queue.valid(); queue = next_queue()) {
      const auto [ours, theirs] = just_below_meeting(queue);
      if (share(ours).key() < share(theirs).key() && take(queue, PreemptionReason::kInCohortFairSharing)) return true;
      of_queue_[queue].clear();
    }
    return false;
  }
  void put_back() {
    for (int i = static_cast<int>(targets_.size()) - 2; i >= 0; --i) {
      auto& target = targets_[static_cast<std::size_t>(i)];
      trial_->again(target.workload);
      if (fits()) {
        target = targets_.back();
        targets_.pop_back();
      } else {
        trial_->without(target.workload);
      }
    }
  }

  House& house_;
  Ledger& ledger_;
  Preemptor who_;
  std::vector<FlavorResourceId> ids_;
  Usage usage_;
  Ledger::Trial* trial_ = nullptr;
  std::map<NodeId, std::vector<WorkloadId>> of_queue_;
  std::set<NodeId> pruned_;
  std::vector<WorkloadId> refused_;
  std::vector<Target> targets_;
};

struct RandomHouse : House {
  explicit RandomHouse(unsigned seed)
      : House(FairSharing{true, seed % 5 != 0, seed % 5 == 0 || seed % 3 != 0, seed % 7 != 0}), random(seed) {
    const std::vector<std::string> cohorts{"", "root", "left", "right", "deep"};
    const auto limits = [&](int most) {
      return Quota{n(pick(0, most)), pick(0, 2) ? Amount::unlimited() : n(pick(0, 6)),
                   pick(0, 2) ? Amount::unlimited() : n(pick(0, 6))};
    };
    ledger.set_cohort("left", "root", std::vector<QuotaEntry>{{kCpu, limits(3)}});
    ledger.set_cohort("right", "root", std::vector<QuotaEntry>{{kMemory, limits(3)}});
    if (pick(0, 1)) ledger.set_cohort("deep", "left", std::vector<QuotaEntry>{{kCpu, limits(2)}});
    for (const char* cohort : {"left", "right", "deep"}) {
      if (const NodeId node = ledger.find_cohort(cohort); node.valid()) weigh(node);
    }
    for (int i = 0; i < 6; ++i) {
      const std::string name = "q" + std::to_string(i);
      const std::string& cohort = cohorts[static_cast<std::size_t>(pick(i == 0 && pick(0, 9) == 0 ? 0 : 1, 4))];
      queues.push_back(queue(name, cohort, 0));
      ledger.set_cluster_queue(name, cohort, std::vector<QuotaEntry>{{kCpu, limits(5)}, {kMemory, limits(5)}});
      weigh(queues.back());
    }
    for (int i = pick(4, 16); i-- > 0;)
      runs(queues[static_cast<std::size_t>(pick(0, 5))], pick(0, 4), pick(0, 3), pick(0, 5), pick(0, 5) == 0,
           pick(0, 3));
    config.within_cluster_queue = static_cast<WithinClusterQueue>(pick(0, 2));
    config.reclaim_within_cohort = static_cast<ReclaimWithinCohort>(pick(0, 4) ? 2 : pick(0, 1));
    preemptor = {queues[0], &config, pick(0, 4), second(pick(0, 6))};
    usage = {{kCpu, n(pick(1, 8))}};
    if (pick(0, 1)) usage.push_back({kMemory, n(pick(1, 6))});
    for (const auto& each : usage) {
      if (each.amount > ledger.available(queues[0], each.id)) ids.push_back(each.id);
    }
  }
  void weigh(NodeId node) {
    if (pick(0, 1))
      ledger.set_weight(node, {static_cast<std::uint64_t>(pick(0, 3)), static_cast<std::uint64_t>(pick(1, 2))});
  }
  int pick(int low, int high) { return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1)); }
  std::mt19937 random;
  std::vector<NodeId> queues;
  QueueConfig config;
  Preemptor preemptor;
  Usage usage;
  std::vector<FlavorResourceId> ids;
};

TEST(FairPreemptionProperty, EqualsTheRulesWrittenPlainly) {
  int found = 0;
  std::set<PreemptionReason> reasons;
  for (unsigned seed = 0; seed < 20000 / testing_support::kFewer; ++seed) {
    RandomHouse house(seed);
    if (house.ids.empty() || !house.config.preempts()) continue;
    const auto targets = house.preemption.targets(house.preemptor, house.ids, house.usage);
    ASSERT_EQ(targets, Naive(house, house.preemptor, house.ids, house.usage).targets()) << "seed " << seed;
    ASSERT_TRUE(house.ledger.check().empty()) << "seed " << seed;
    found += targets.empty() ? 0 : 1;
    for (const Target& each : targets) reasons.insert(each.reason);
    // The victims are enough, and each is needed.
    if (targets.empty()) continue;
    Ledger::Trial trial(house.ledger);
    for (const Target& each : targets) trial.without(each.workload);
    ASSERT_TRUE(house.ledger.fits(house.preemptor.queue, house.usage)) << "seed " << seed;
    for (const Target& each : targets) {
      trial.again(each.workload);
      ASSERT_FALSE(house.ledger.fits(house.preemptor.queue, house.usage)) << "seed " << seed;
      trial.without(each.workload);
    }
  }
  EXPECT_GT(found, 1000 / testing_support::kFewer);
  EXPECT_EQ(reasons.size(), 3u);
}

}  // namespace
}  // namespace berth::engine::fair_preemption_test
