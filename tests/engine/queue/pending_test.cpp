#include "engine/queue/pending.h"

#include <gtest/gtest.h>

#include <map>

namespace berth::engine::pending_test {
namespace {

const FlavorResourceId kCpu(0), kMemory(1);

struct House {
  explicit House(bool share = true) : queue(slots, share) {}
  WorkloadId waits(const std::string& uid, int priority, int second, std::size_t shape = 0, LocalQueueId local = {}) {
    WorkloadId id = slots.enter(uid, "");
    slots[id].local_queue = local;
    slots[id].priority = priority;
    slots[id].queued_at = Time(std::chrono::seconds(second));
    slots[id].shape = ShapeId(shape);
    queue.push(id);
    return id;
  }
  std::string head() { return queue.head().valid() ? slots[queue.head()].who->uid : ""; }
  std::string order() {
    std::string all;
    for (WorkloadId each : queue.page(0, queue.size())) all += slots[each].who->uid;
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

TEST(PendingQueue, WhoIsOlderThanItsClassWakesItWhereAgeDecides) {
  House house;
  WorkloadId b = house.waits("b", 0, 2);
  house.queue.park(b, {{kCpu, Amount::of(2)}}, "WaitingForQuota");
  WorkloadId a = house.waits("a", 0, 1), c = house.waits("c", 0, 3);
  EXPECT_TRUE(house.queue.sleeps(a));
  house.queue.erase(a);
  house.queue.erase(c);
  house.queue.push(c, true);
  EXPECT_TRUE(house.queue.sleeps(c)) << "newer: no victim for it that there is not for b";
  house.queue.push(a, true);
  EXPECT_EQ(house.head(), "a");
  EXPECT_FALSE(house.queue.sleeps(b));
  EXPECT_EQ(house.queue.asleep(), 0u);
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
  EXPECT_EQ(house.queue.take_unreported().size(), 3u);
  EXPECT_EQ(house.queue.take_unreported().size(), 0u);
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

std::string names(const Slots& slots, const std::vector<WorkloadId>& page) {
  std::string all;
  for (const WorkloadId each : page) all += slots[each].who->uid;
  return all;
}

TEST(PendingQueue, PagesShowEverybodyOnceAndTheStickyFirst) {
  House house;
  const LocalQueueId left(0), right(1);
  WorkloadId a = house.waits("a", 3, 1, 0, left);
  WorkloadId b = house.waits("b", 2, 1, 1, right);
  WorkloadId c = house.waits("c", 1, 1, 2, left);
  WorkloadId d = house.waits("d", 0, 1, 3, right);
  for (const char* order : {"abcd", "cabd"}) {
    const std::string all = order;
    for (std::size_t offset = 0; offset <= 5; ++offset) {
      for (std::size_t limit = 0; limit <= 5; ++limit) {
        EXPECT_EQ(names(house.slots, house.queue.page(offset, limit)), offset > 4 ? "" : all.substr(offset, limit));
      }
    }
    house.queue.set_sticky(c);
  }
  EXPECT_EQ(house.queue.position(c), 0u);
  EXPECT_EQ(house.queue.position(a), 1u);
  EXPECT_EQ(house.queue.position(d), 3u);
  EXPECT_EQ(house.queue.position_in_local_queue(c), 0u);
  EXPECT_EQ(house.queue.position_in_local_queue(a), 1u);
  EXPECT_EQ(house.queue.position_in_local_queue(b), 0u);
  EXPECT_EQ(house.queue.position_in_local_queue(d), 1u);
  EXPECT_EQ(names(house.slots, house.queue.page(left, 0, 9)), "ca");
  EXPECT_EQ(names(house.slots, house.queue.page(left, 1, 9)), "a");
  EXPECT_EQ(names(house.slots, house.queue.page(right, 1, 9)), "d");
  EXPECT_EQ(names(house.slots, house.queue.page(LocalQueueId(2), 0, 9)), "");
  house.queue.erase(c);
  EXPECT_EQ(names(house.slots, house.queue.page(0, 9)), "abd");
  EXPECT_TRUE(house.queue.check().empty());
}

TEST(PendingQueue, CountsWhoSleeps) {
  House house;
  WorkloadId a = house.waits("a", 0, 1);
  WorkloadId b = house.waits("b", 0, 2);
  house.waits("c", 0, 3, 1);
  EXPECT_EQ(house.queue.asleep(), 0u);
  house.queue.park(a, {{kCpu, Amount::of(2)}}, "WaitingForQuota");
  EXPECT_EQ(house.queue.asleep(), 2u);
  house.waits("d", 0, 4);  // parked with its class
  EXPECT_EQ(house.queue.asleep(), 3u);
  house.queue.erase(b);
  house.queue.put_aside(b);
  EXPECT_EQ(house.queue.asleep(), 3u);
  EXPECT_TRUE(house.queue.check().empty());
  EXPECT_TRUE(house.wake(kCpu));
  EXPECT_EQ(house.queue.asleep(), 1u);
  EXPECT_EQ(house.queue.size(), 4u);
  EXPECT_TRUE(house.queue.check().empty());
}

}  // namespace
}  // namespace berth::engine::pending_test
