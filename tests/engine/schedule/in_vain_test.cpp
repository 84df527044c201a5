// What it costs to look for victims in vain: of the number of workloads that hold quota, whatever the number of
// flavors, pod sets and pods.
#include <gtest/gtest.h>

#include "world.h"

namespace berth::engine::in_vain_test {
namespace {

using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;

struct Case {
  std::uint64_t holders = 0;
  int flavors = 1, pod_sets = 1;
  bool reducible = false, shares = false;
};

// `flavors` flavors, whose cpu is full of `holders` workloads of low priority in two queues, and whose memory is used
// by one of high priority each. The workload that waits needs both.
class Full : public World {
 public:
  explicit Full(const Case& c) : World(options(c.shares)), flavors_(c.flavors) {
    const int holders = static_cast<int>(c.holders), share = holders / c.flavors;
    QueueSpec own("own"), other("other");
    for (QueueSpec* queue : {&own, &other}) {
      const std::string quota = queue == &own ? std::to_string(share) : "0";
      for (int f = 0; f < c.flavors; ++f) queue->flavor(flavor_name(f), {{"cpu", quota}, {"memory", quota}});
      queue->in("team").within(WithinClusterQueue::kLowerPriority).reclaim(ReclaimWithinCohort::kLowerPriority);
      World::queue(*queue);
    }
    for (int f = 0; f < c.flavors; ++f) flavor(flavor_name(f));
    for (int i = 0; i < holders; ++i) hold(i, i / c.flavors % 2 ? "own" : "other", i % c.flavors, 0, "cpu", 1000);
    for (int f = 0; f < c.flavors; ++f) hold(holders + f, "own", f, 9, "memory", share);
    scheduler.schedule(at_second(1));
    JobSpec job{.queue = "own", .count = 8, .requests = {{"cpu", "1"}, {"memory", "1"}}, .priority = 1};
    if (c.reducible) job.min_count = 1;
    waits_ = World::pending(job, 1);
    waits_.pod_sets.resize(static_cast<std::size_t>(c.pod_sets), waits_.pod_sets.front());
    for (int i = 0; i < c.pod_sets; ++i) waits_.pod_sets[static_cast<std::size_t>(i)].name = "set" + std::to_string(i);
  }

  // The steps of one look.
  std::uint64_t look() {
    const std::uint64_t before = scheduler.search_steps();
    submit("late", waits_);
    EXPECT_EQ(moves(), std::vector<std::string>{});
    return scheduler.search_steps() - before;
  }
  // The memory of one flavor is free again.
  void free_memory(int flavor) {
    scheduler.release(ids_.at(ids_.size() - static_cast<std::size_t>(flavors_ - flavor)));
  }

 private:
  static SchedulerOptions options(bool shares) {
    SchedulerOptions options;
    options.fair_sharing.enabled = shares;
    return options;
  }
  static std::string flavor_name(int f) { return "f" + std::to_string(f); }
  void hold(int i, const char* queue, int f, int priority, const char* resource, int amount) {
    const WorkloadId id = scheduler.enter("uid-" + std::to_string(i), "");
    ids_.push_back(id);
    names[id] = "w" + std::to_string(i);
    scheduler.hold(
        id, {queue, priority, at_second(i), at_second(i), {{flavor_name(f), resource, Amount::of(amount)}}, false});
  }

  const int flavors_;
  Pending waits_;
  std::vector<WorkloadId> ids_;
};

// Each flavor is searched for each number of pods that partial admission tries, and only once.
TEST(InVain, ALookCostsAsMuchAsItsFlavorsByThemselves) {
  constexpr std::uint64_t kHolders = 960, kNumbersOfPods = 4;
  for (const bool shares : {false, true}) {
    for (const int flavors : {4, 16, 64}) {
      for (const int pod_sets : {1, 2, 8}) {
        for (const bool reducible : {false, true}) {
          Full world({.holders = kHolders,
                      .flavors = flavors,
                      .pod_sets = pod_sets,
                      .reducible = reducible,
                      .shares = shares});
          const std::uint64_t steps = world.look();
          EXPECT_GT(steps, kHolders / 2);
          EXPECT_LT(steps, kHolders * static_cast<std::uint64_t>(flavors + 4) * (reducible ? kNumbersOfPods : 1))
              << flavors << " flavors, " << pod_sets << " pod sets" << (reducible ? ", reducible" : "");
        }
      }
    }
  }
}

// What a look has found does not outlive it.
TEST(InVain, TheNextLookSeesWhatGotFree) {
  for (const bool shares : {false, true}) {
    Full world({.holders = 400, .flavors = 4, .pod_sets = 2, .shares = shares});
    EXPECT_GT(world.look(), 0U);
    world.free_memory(2);
    EXPECT_EQ(world.moves().size(), 16U) << "one victim for each pod";
  }
}

}  // namespace
}  // namespace berth::engine::in_vain_test
