// Terms of cluster queues that Kueue's API does not have: the flavor for all other resources, and rules of preemption
// between queues.
#include <gmock/gmock.h>

#include "engine/schedule/world.h"

namespace berth::engine::terms_test {
namespace {

using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct TermsWorld : World {
  TermsWorld() { flavor("f"); }
  void cohort(const std::string& name, const std::string& parent, const std::vector<QueueSpec::Limit>& limits,
              bool unbounded) {
    api::kueue::Cohort object;
    object.meta.name = name;
    object.parent_name = parent;
    if (!limits.empty()) QueueSpec::add_flavor(object.resource_groups, "f", limits);
    object.unbounded = unbounded;
    scheduler.set_cohort(object);
  }
  Amount used(std::string_view queue, std::string_view resource) const {
    const auto& known = scheduler.names();
    const auto pair = known.find_pair(known.find_flavor("f"), known.find_resource(resource));
    return scheduler.ledger().usage(scheduler.ledger().find_cluster_queue(queue), pair);
  }
};

QueueSpec counts_the_rest(std::string name, std::string cohort) {
  QueueSpec spec(std::move(name));
  spec.in(std::move(cohort));
  spec.object.terms.flavor_of_the_rest = "f";
  return spec;
}

TEST(Terms, TheRestIsCountedWithoutLimitsBelowAnUnboundedCohort) {
  TermsWorld w;
  w.cohort("root", "", {{.resource = "gpu", .nominal = "2"}}, true);
  w.queue(counts_the_rest("a", "root").flavor("f", {{.resource = "cpu", .nominal = "1", .borrowing = "2"}}));
  w.job({.name = "many", .queue = "a", .count = 2, .requests = {{"cpu", "1"}, {"memory", "1Gi"}}});
  EXPECT_THAT(w.schedule(), ElementsAre("admit many"));
  EXPECT_EQ(w.used("a", "memory"), Amount::of(std::int64_t{2} << 30));
  EXPECT_EQ(w.used("a", "pods"), Amount::of(2));
  w.job({.name = "cpu", .queue = "a", .requests = {{"cpu", "2"}}});  // named by the queue: at most 3
  w.job({.name = "gpu", .queue = "a", .requests = {{"gpu", "3"}}});  // named by the root: at most 2
  w.job({.name = "small", .queue = "a", .requests = {{"gpu", "2"}, {"cpu", "1"}}});
  EXPECT_THAT(w.schedule(), Contains("admit small"));
  EXPECT_THAT(w.scheduler.check(), IsEmpty());
  // With a limit for a previously unlimited resource the next workload waits; without the limit it is admitted.
  w.cohort("root", "", {{.resource = "gpu", .nominal = "2"}, {.resource = "memory", .nominal = "2Gi"}}, true);
  w.job({.name = "late", .queue = "a", .requests = {{"memory", "1Gi"}}});
  EXPECT_THAT(w.schedule(), Not(Contains("admit late")));
  w.cohort("root", "", {{.resource = "gpu", .nominal = "2"}}, true);
  EXPECT_THAT(w.schedule(), Contains("admit late"));
  EXPECT_THAT(w.scheduler.check(), IsEmpty());
}

TEST(Terms, WithoutAnUnboundedCohortThereIsNothingOfTheRest) {
  TermsWorld w;
  w.cohort("root", "", {}, false);
  w.queue(counts_the_rest("a", "root"));
  w.job({.name = "j", .queue = "a"});
  EXPECT_THAT(w.schedule(), ElementsAre(HasSubstr("wait j")));
  w.cohort("root", "", {}, true);
  EXPECT_THAT(w.schedule(), ElementsAre("admit j"));
}

// A queue with 4 cpu in the cohort "team"; it may reclaim from any workload and preempt lower priorities of its own.
QueueSpec member(std::string name, std::int32_t priority = 0) {
  QueueSpec spec(std::move(name));
  spec.in("team")
      .flavor("f", {{.resource = "cpu", .nominal = "4"}})
      .reclaim(ReclaimWithinCohort::kAny)
      .within(WithinClusterQueue::kLowerPriority);
  spec.object.terms.priority = priority;
  return spec;
}

TEST(Terms, HeadsOfQueuesOfHigherPriorityComeFirst) {
  TermsWorld w;
  w.queue(QueueSpec("pool").in("team").flavor("f", {{.resource = "cpu", .nominal = "1"}}));
  for (const auto& [name, priority] : {std::pair("low", 0), std::pair("high", 5)}) {
    QueueSpec spec = QueueSpec(name).in("team").flavor("f", {{.resource = "cpu", .nominal = "0"}});
    spec.object.terms.priority = priority;
    w.queue(spec);
  }
  w.job({.name = "older", .queue = "low", .priority = 100});
  w.job({.name = "younger", .queue = "high"});
  EXPECT_THAT(w.schedule(), Contains("admit younger"));
}

TEST(Terms, WhoIsNotReclaimableGivesWayInItsOwnQueueOnly) {
  TermsWorld w;
  QueueSpec safe = member("safe");
  safe.object.terms.reclaimable = false;
  w.queue(safe);
  w.queue(member("owner"));
  w.job({.name = "borrows", .queue = "safe", .requests = {{"cpu", "8"}}});
  w.schedule();
  w.job({.name = "wants", .queue = "owner", .requests = {{"cpu", "4"}}});
  EXPECT_THAT(w.schedule(), ElementsAre(HasSubstr("wait wants")));
  w.job({.name = "urgent", .queue = "safe", .requests = {{"cpu", "4"}}, .priority = 1});
  EXPECT_THAT(w.schedule(), Contains("preempt borrows for urgent (InClusterQueue)"));

  TermsWorld again;  // and the reverse when the term is removed
  again.queue(safe);
  again.queue(member("owner"));
  again.job({.name = "borrows", .queue = "safe", .requests = {{"cpu", "8"}}});
  again.schedule();
  again.job({.name = "wants", .queue = "owner", .requests = {{"cpu", "4"}}});
  again.schedule();
  safe.object.terms.reclaimable = true;
  again.queue(safe);
  EXPECT_THAT(again.schedule(), Contains("preempt borrows for wants (InCohortReclamation)"));
}

TEST(Terms, QueuesOfLowerPriorityGiveWayFirst) {
  TermsWorld w;
  w.queue(member("owner"));
  w.queue(member("high", 2));
  w.queue(member("low", 1));
  w.job({.name = "of-low", .queue = "low", .requests = {{"cpu", "6"}}, .priority = 50});
  w.job({.name = "of-high", .queue = "high", .requests = {{"cpu", "6"}}});
  w.schedule();
  w.job({.name = "wants", .queue = "owner", .requests = {{"cpu", "2"}}});
  EXPECT_THAT(w.schedule(), Contains("preempt of-low for wants (InCohortReclamation)"));
}

// root - grand - victim (over its quota, while grand is within its own), and root - owner.
struct Levels : TermsWorld {
  explicit Levels(std::optional<std::int32_t> reclaim_levels) {
    cohort("root", "", {}, false);
    cohort("grand", "root", {{.resource = "cpu", .nominal = "4"}}, false);
    queue(QueueSpec("victim").in("grand").flavor("f", {{.resource = "cpu", .nominal = "2"}}));
    queue(QueueSpec("neighbour").in("root").flavor("f", {{.resource = "cpu", .nominal = "0"}}));
    QueueSpec owner = QueueSpec("owner")
                          .in("root")
                          .flavor("f", {{.resource = "cpu", .nominal = "4"}})
                          .reclaim(ReclaimWithinCohort::kAny);
    owner.object.terms.reclaim_levels = reclaim_levels;
    queue(owner);
    job({.name = "inside", .queue = "victim", .requests = {{"cpu", "6"}}, .priority = -1});  // all of grand's quota
    job({.name = "outside", .queue = "neighbour", .requests = {{"cpu", "4"}}});
    schedule();
    job({.name = "wants", .queue = "owner", .requests = {{"cpu", "4"}}});
  }
};

TEST(Terms, HowManyAncestorsOfAVictimMustExceedTheirQuota) {
  EXPECT_THAT(Levels(std::nullopt).schedule(), Contains("preempt outside for wants (InCohortReclamation)"));
  EXPECT_THAT(Levels(1).schedule(), Contains("preempt outside for wants (InCohortReclamation)"));
  EXPECT_THAT(Levels(0).schedule(),
              Contains("preempt inside for wants (InCohortReclamation)"));  // only the queue itself counts
}

}  // namespace
}  // namespace berth::engine::terms_test
