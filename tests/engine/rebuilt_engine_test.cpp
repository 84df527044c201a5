// An engine restarted from the API objects admits no workload that the old engine left waiting, and preempts nothing
// that the old one left running: random trees of cohorts, random preemption policies, and all changes of quotas and
// rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "engine/lifecycle/state.h"
#include "engine/support/scenario.h"
#include "support/sanitized.h"

namespace berth::engine::rebuilt_engine_test {
namespace {

using api::kueue::BorrowWithinCohort;
using api::kueue::ReclaimWithinCohort;
using api::kueue::StopPolicy;
using api::kueue::WithinClusterQueue;
using api::kueue::Workload;
using test::ClusterQueueBuilder;
using test::Scenario;
using test::WorkloadBuilder;

constexpr unsigned kSeedsPerPolicy = 40 / testing_support::kFewer;
constexpr int kSteps = 80;
constexpr int kStepsBetween = 8;  // steps between two restarts; few of them change rules: both wake all workloads
constexpr int kQueues = 5;
constexpr std::size_t kMaxWorkloads = 16;
const std::vector<std::string> kCohorts{"all", "left", "right"};

enum class Policy : std::uint8_t { kNone, kWithinQueue, kLowerPriority, kAny, kWhileBorrowing, kMixed, kFairSharing };
constexpr int kPolicies = 7;

class Life {
 public:
  Life(Policy policy, unsigned seed) : policy_(policy), random_(seed), s_(options(policy, seed)) {
    s_.give(test::flavor("f"));
    s_.give(test::flavor("g"));
    for (const std::string& name : kCohorts) set_cohort(name);
    for (int i = 0; i < kQueues; ++i) set_queue(i);
  }

  void step() {
    switch (pick(0, 39)) {
      case 0:
        return set_queue(pick(0, kQueues - 1));
      case 1:
        return set_cohort(kCohorts[static_cast<std::size_t>(pick(0, 2))]);
      case 2:
        return direct(pick(0, kQueues - 1), pick(0, 2) == 0 ? StopPolicy::kHold : StopPolicy::kNone);
      case 3:
        return on_some([&](const std::string& w) { s_.change(w, [](Workload& x) { x.active = !x.active; }, true); });
      case 4:
        return on_some([&](const std::string& w) {
          const int priority = pick(0, 3);
          s_.change(w, [&](Workload& x) { x.priority = priority; }, true);
        });
      case 5:
        return on_some([&](const std::string& w) { reclaim(w); });
      case 6:
        return on_some([&](const std::string& w) { s_.remove(w); });
      default:
        return pick(0, 2) == 0 ? on_some([&](const std::string& w) { finish(w); }) : create();
    }
  }

  // Returns true when everything settled; some workloads take turns, less and less often.
  bool rest() {
    constexpr int kMostTimes = 8;
    for (int i = 0; i < kMostTimes; ++i) {
      const int before = s_.writes();
      s_.pass(600);
      if (s_.writes() == before && !(s_.wake() && *s_.wake() < s_.now() + std::chrono::hours(1))) return true;
    }
    return false;
  }

  void make_anew() {
    const auto before = holders();
    s_.take_events();
    s_.restart();
    s_.pass(600);
    if (holders() == before) return;
    for (const auto& event : s_.take_events()) ADD_FAILURE() << event;
  }
  std::size_t let_in() const { return holders().size(); }

 private:
  static Options options(Policy policy, unsigned seed) {
    Options o;
    o.wait_for_pods_ready.enabled = false;
    o.fair_sharing = {policy == Policy::kFairSharing, seed % 3 != 0, seed % 3 != 1};
    o.fair_preempt_within_nominal = seed % 2 == 0;
    return o;
  }
  int pick(int low, int high) { return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1)); }
  std::string few(int most) { return std::to_string(pick(0, most)); }

  api::kueue::ResourceGroup group(int most, bool limits) {
    api::kueue::ResourceGroup out;
    out.covered_resources = {"cpu", "memory"};
    for (const char* flavor : {"f", "g"}) {
      api::kueue::FlavorQuotas quotas{flavor, {}};
      for (const char* resource : {"cpu", "memory"}) {
        api::kueue::ResourceQuota quota{resource, test::quantity(few(most)), {}, {}};
        if (limits && pick(0, 3) == 0) quota.borrowing_limit = test::quantity(few(3));
        if (limits && pick(0, 3) == 0) quota.lending_limit = test::quantity(few(3));
        quotas.resources.push_back(quota);
      }
      out.flavors.push_back(quotas);
      if (pick(0, 1) == 0) break;
    }
    return out;
  }
  void set_cohort(const std::string& name) {
    api::kueue::Cohort cohort;
    cohort.meta.name = name;
    if (name != "all" && pick(0, 4) > 0) cohort.parent_name = "all";
    cohort.resource_groups = {group(4, !cohort.parent_name.empty())};
    cohort.fair_weight = Quantity::of_milli(pick(0, 4) * 500);
    s_.give(cohort);
  }
  void set_queue(int i) {
    auto queue = ClusterQueueBuilder("cq" + std::to_string(i)).build();
    if (pick(0, 9) > 0) queue.cohort_name = kCohorts[static_cast<std::size_t>(pick(0, 2))];
    queue.resource_groups = {group(6, !queue.cohort_name.empty())};
    queue.fair_weight = Quantity::of_milli(pick(0, 4) * 500);
    if (pick(0, 3) == 0) queue.queueing_strategy = api::kueue::QueueingStrategy::kStrictFifo;
    if (pick(0, 5) == 0) queue.stop_policy = StopPolicy::kHold;
    set_policies(queue);
    s_.give(queue);
    direct(i, StopPolicy::kNone);
  }
  void set_policies(api::kueue::ClusterQueue& queue) {
    if (policy_ == Policy::kNone) return;
    queue.within_cluster_queue = static_cast<WithinClusterQueue>(pick(0, 2));
    if (policy_ == Policy::kWithinQueue) return;
    queue.reclaim_within_cohort =
        policy_ == Policy::kLowerPriority ? ReclaimWithinCohort::kLowerPriority : ReclaimWithinCohort::kAny;
    if (policy_ == Policy::kMixed) queue.reclaim_within_cohort = static_cast<ReclaimWithinCohort>(pick(0, 2));
    const bool borrows = policy_ == Policy::kWhileBorrowing || (policy_ == Policy::kMixed && pick(0, 1) == 0);
    if (borrows && queue.reclaim_within_cohort != ReclaimWithinCohort::kNever) {
      queue.borrow_within_cohort = BorrowWithinCohort::kLowerPriority;
      if (pick(0, 1) == 0) queue.borrow_max_priority_threshold = pick(0, 2);
    }
  }
  void direct(int i, StopPolicy stop) {
    s_.give(test::local_queue("q" + std::to_string(i), "cq" + std::to_string(i), stop));
  }
  void create() {
    if (s_.names().size() >= kMaxWorkloads) return on_some([&](const std::string& w) { finish(w); });
    const std::string name = "w" + std::to_string(created_++);
    const std::string requests = R"({"cpu":")" + few(2) + R"(","memory":")" + few(2) + R"("})";
    s_.give(WorkloadBuilder(name, "q" + few(kQueues - 1))
                .requests(pick(1, 4), requests)
                .priority(pick(0, 3))
                .created(s_.now()));
  }
  void finish(const std::string& name) {
    s_.finish(name);
    s_.run();
    s_.remove(name);
  }
  template <typename MonkeyAction>
  void on_some(const MonkeyAction& action) {
    const auto names = s_.names();
    if (!names.empty()) action(names[static_cast<std::size_t>(pick(0, static_cast<int>(names.size()) - 1))]);
  }
  void reclaim(const std::string& name) {
    if (!lifecycle::holds_quota(s_.workload(name).status)) return;
    api::kueue::JobReport report;
    report.reclaimable = {{"main", 1}};
    s_.report(name, report);
  }
  std::map<std::string, std::string> holders() const {
    std::map<std::string, std::string> out;
    for (const auto& name : s_.names()) {
      const auto& status = s_.workload(name).status;
      if (lifecycle::holds_quota(status)) out[name] = status.admission->cluster_queue + " " + s_.flavor_of(name);
    }
    return out;
  }

  Policy policy_;
  std::mt19937 random_;
  Scenario s_;
  int created_ = 0;
};

class RebuiltEngine : public testing::TestWithParam<int> {};

TEST_P(RebuiltEngine, LetsNobodyInWhoWasLeftWaiting) {
  int rests = 0, restless = 0;
  std::size_t let_in = 0;
  for (unsigned seed = 0; seed < kSeedsPerPolicy; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Life life(static_cast<Policy>(GetParam()), seed);
    for (int i = 0; i < kSteps && !HasFailure(); ++i) {
      SCOPED_TRACE("step " + std::to_string(i));
      life.step();
      if (!life.rest()) {
        ++restless;
        continue;
      }
      ++rests;
      if (i % kStepsBetween == kStepsBetween - 1) life.make_anew();
    }
    let_in += life.let_in();
    if (HasFailure()) return;
  }
  EXPECT_GT(rests, restless * 9);
  EXPECT_GT(let_in, kSeedsPerPolicy);
}

INSTANTIATE_TEST_SUITE_P(Policies, RebuiltEngine, testing::Range(0, kPolicies));

}  // namespace
}  // namespace berth::engine::rebuilt_engine_test
