#include "engine/queue/pending.h"

#include <gtest/gtest.h>

#include <map>

namespace berth::engine {
namespace {

const FlavorResourceId kCpu(0), kMemory(1);

struct House {
  explicit House(bool share = true) : queue(slots, share) {}
  WorkloadId waits(const std::string& uid, int priority, int second, std::size_t shape = 0) {
    WorkloadId id = slots.enter(uid, "");
    slots[id].priority = priority;
    slots[id].queued_at = Time(std::chrono::seconds(second));
    slots[id].shape = ShapeId(shape);
    queue.push(id);
    return id;
  }
  std::string head() { return queue.head().valid() ? slots[queue.head()].uid : ""; }
  std::string order() {
    std::string all;
    for (WorkloadId each : queue.order()) all += slots[each].uid;
    return all;
  }
  bool wake(FlavorResourceId id) {
    return queue.wake(id, [](const Lack&, ShapeId) { return true; });
  }
  Slots slots;
  PendingQueue queue;
};

TEST(PendingQueue, OrdersByPriorityTimeAndUid) {
  House house;
  house.waits("d", 0, 1);
  house.waits("c", 0, 1);
  house.waits("a", 5, 9);
  house.waits("b", 5, 9, 1);
  EXPECT_EQ(house.order(), "abcd");
  EXPECT_EQ(house.head(), "a");
  house.queue.erase(house.queue.head());
  EXPECT_EQ(house.head(), "b");
  EXPECT_TRUE(house.queue.check().empty());
}

TEST(PendingQueue, ClassSleepsTogetherUntilWhatItLackedGetsFreer) {
  House house;
  WorkloadId a = house.waits("a", 0, 1);
  house.waits("b", 0, 2);
  house.waits("c", 0, 3, 1);
  house.queue.park(a, {{kCpu, Amount::of(2)}}, "WaitingForQuota");
  EXPECT_EQ(house.head(), "c");
  WorkloadId late = house.waits("d", 0, 0);
  EXPECT_EQ(house.head(), "c");
  EXPECT_TRUE(house.queue.sleeps(late));
  EXPECT_EQ(house.queue.take_untold().size(), 3u);
  EXPECT_EQ(house.queue.take_untold().size(), 0u);
  EXPECT_FALSE(house.wake(kMemory));
  EXPECT_TRUE(house.wake(kCpu));
  EXPECT_EQ(house.head(), "d");
  EXPECT_TRUE(house.queue.check().empty());
}

TEST(PendingQueue, WithoutSharedVerdictsEachSleepsAlone) {
  House house(false);
  WorkloadId a = house.waits("a", 0, 1);
  house.waits("b", 0, 2);
  house.queue.park(a, {{kCpu, Amount::of(2)}}, "WaitingForQuota");
  EXPECT_EQ(house.head(), "b");
}

TEST(PendingQueue, StickyWorkloadIsFirstUntilItLeaves) {
  House house;
  house.waits("first", 9, 1);
  WorkloadId preemptor = house.waits("preemptor", 0, 5, 1);
  house.queue.set_sticky(preemptor);
  EXPECT_EQ(house.head(), "preemptor");
  house.queue.park(preemptor, {{kCpu, Amount::of(2)}}, "WaitingForQuota");
  EXPECT_EQ(house.head(), "first");
  house.queue.wake_all();
  EXPECT_EQ(house.head(), "preemptor");
  house.queue.erase(preemptor);
  EXPECT_EQ(house.head(), "first");
}

TEST(PendingQueue, BlockedHeadStopsTheQueueButNotWhoComesBeforeIt) {
  House house;
  WorkloadId a = house.waits("a", 0, 5);
  house.waits("b", 0, 6, 1);
  house.queue.block(a, {{kCpu, Amount::of(2)}});
  EXPECT_EQ(house.head(), "");
  WorkloadId urgent = house.waits("urgent", 1, 9, 2);
  EXPECT_EQ(house.head(), "urgent");
  house.queue.erase(urgent);
  EXPECT_EQ(house.head(), "");
  EXPECT_TRUE(house.wake(kCpu));
  EXPECT_EQ(house.head(), "a");
  house.queue.block(a, {});
  house.queue.erase(a);
  EXPECT_EQ(house.head(), "b");
}

TEST(PendingQueue, AsideIsCountedButNotOffered) {
  House house;
  WorkloadId id = house.slots.enter("later", "");
  house.queue.put_aside(id);
  EXPECT_EQ(house.queue.size(), 1u);
  EXPECT_EQ(house.head(), "");
  EXPECT_EQ(house.order(), "later");
  house.queue.erase(id);
  EXPECT_EQ(house.queue.size(), 0u);
}

}  // namespace
}  // namespace berth::engine
