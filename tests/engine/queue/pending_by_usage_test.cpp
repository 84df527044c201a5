#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/queue/pending.h"

namespace berth::engine::pending_by_usage_test {
namespace {

const FlavorResourceId kCpu(0);

struct House {
  House() : queue(slots, true) { queue.order_by_usage(true); }
  WorkloadId waits(const std::string& uid, std::size_t local, int priority = 0, int second = 0, std::size_t shape = 0) {
    const WorkloadId id = slots.enter(uid, "");
    slots[id].local_queue = LocalQueueId(local);
    slots[id].priority = priority;
    slots[id].queued_at = Time(std::chrono::seconds(second));
    slots[id].shape = ShapeId(shape);
    queue.push(id);
    return id;
  }
  void used(std::size_t local, Wide value, bool last = false) { slots.set_score(LocalQueueId(local), {last, value}); }
  std::string order(std::size_t from = 0, std::size_t limit = 1'000) {
    std::string all;
    for (const WorkloadId each : queue.page(from, limit)) all += slots[each].who->uid;
    return all;
  }
  std::string head() { return queue.head().valid() ? slots[queue.head()].who->uid : ""; }
  Slots slots;
  PendingQueue queue;
};

struct Item {
  int value = 0;
  std::size_t place = 0;
};
struct Smaller {
  bool operator()(const Item& a, const Item& b) const { return a.value != b.value ? a.value < b.value : &a < &b; }
};

TEST(PendingByUsage, TheHeapFollowsAnyItemThatChanges) {
  std::mt19937 random(7);
  std::vector<Item> items(40);
  PlacedHeap<Item, Smaller> heap(Smaller{});
  std::vector<bool> inside(items.size());
  for (int step = 0; step < 20'000; ++step) {
    const std::size_t i = random() % items.size();
    const bool leaves = inside[i] && random() % 3 == 0;
    if (leaves) heap.remove(items[i]);
    items[i].value = static_cast<int>(random() % 50);
    if (inside[i] && !leaves) heap.settle(items[i]);
    if (!inside[i]) heap.add(items[i]);
    inside[i] = !leaves;
    const Item* least = nullptr;
    std::size_t size = 0;
    for (std::size_t j = 0; j < items.size(); ++j) {
      ASSERT_EQ(heap.contains(items[j]), inside[j]);
      if (!inside[j]) continue;
      ++size;
      if (least == nullptr || Smaller()(items[j], *least)) least = &items[j];
    }
    ASSERT_EQ(heap.size(), size);
    ASSERT_TRUE(heap.in_order());
    if (least != nullptr) {
      ASSERT_EQ(&heap.first(), least);
    }
  }
}

TEST(PendingByUsage, WhoUsedLessGoesFirstBeforePriority) {
  House house;
  house.waits("a", 1, 10);
  house.waits("b", 2, 0, 9);
  house.waits("c", 2, 5, 10);
  EXPECT_EQ(house.order(), "acb") << "equal usage: by priority";
  house.used(1, 1);
  EXPECT_EQ(house.order(), "acb") << "until they are compared again";
  house.queue.rank();
  EXPECT_EQ(house.order(), "cba");
  EXPECT_EQ(house.head(), "c");
  house.used(2, 5, true);
  house.queue.rank(LocalQueueId(2));
  EXPECT_EQ(house.order(), "acb") << "weight 0 is last";
  EXPECT_TRUE(house.queue.check().empty());
}

TEST(PendingByUsage, ThePreemptorStaysFirst) {
  House house;
  const WorkloadId a = house.waits("a", 1);
  house.waits("b", 2);
  house.used(1, 9);
  house.queue.rank();
  EXPECT_EQ(house.order(), "ba");
  house.queue.set_sticky(a);
  EXPECT_EQ(house.order(), "ab");
  EXPECT_EQ(house.order(1), "b");
  EXPECT_EQ(house.head(), "a");
}

TEST(PendingByUsage, AParkedQueueGivesWayToTheNext) {
  House house;
  const WorkloadId a = house.waits("a", 1), b = house.waits("b", 2);
  house.used(2, 3);
  house.queue.rank();
  house.queue.park(a, {{kCpu, Amount::of(2)}}, "WaitingForQuota");
  EXPECT_EQ(house.head(), "b") << "of the same shape, but another local queue: it gets its own verdict";
  EXPECT_FALSE(house.queue.sleeps(b));
  house.queue.park(b, {{kCpu, Amount::of(2)}}, "WaitingForQuota");
  EXPECT_EQ(house.head(), "");
  house.queue.wake(kCpu, [](const Lack&, ShapeId) { return true; });
  EXPECT_EQ(house.head(), "a");
  EXPECT_TRUE(house.queue.check().empty());
}

TEST(PendingByUsage, ABlockedHeadBlocksUntilAnotherIsFirst) {
  House house;
  const WorkloadId a = house.waits("a", 1);
  house.waits("b", 2);
  house.used(2, 3);
  house.queue.rank();
  house.queue.block(a, {{kCpu, Amount::of(2)}});
  EXPECT_EQ(house.head(), "");
  house.used(1, 4);
  house.queue.rank();
  EXPECT_EQ(house.head(), "b");
}

TEST(PendingByUsage, CanBeSwitchedOnAndOff) {
  House house;
  const WorkloadId a = house.waits("a", 1, 0, 1);
  house.waits("b", 2, 0, 2);
  house.used(1, 1);
  house.queue.rank();
  house.queue.set_sticky(a);
  house.queue.order_by_usage(false);
  EXPECT_TRUE(house.queue.sticky(a));
  house.queue.set_sticky(WorkloadId());
  EXPECT_EQ(house.order(), "ab");
  house.queue.order_by_usage(true);
  EXPECT_EQ(house.order(), "ba");
  EXPECT_TRUE(house.queue.check().empty());
}

// Few different values, so that all parts of the order decide. The order of any three workloads alone is their order
// among all: so it is transitive.
TEST(PendingByUsage, IsATotalOrder) {
  std::mt19937_64 random(1);
  const auto score = [](std::size_t local) { return static_cast<Wide>(local / 2); };
  for (int round = 0; round < 500; ++round) {
    House all, three;
    for (std::size_t local = 1; local < 7; ++local) all.used(local, score(local)), three.used(local, score(local));
    std::vector<std::string> uids;
    for (int i = 0; i < 12; ++i) uids.push_back(std::string(1, static_cast<char>('a' + i)));
    std::ranges::shuffle(uids, random);
    std::string chosen;
    for (int i = 0; i < 12; ++i) {
      const std::size_t local = 1 + random() % 6;
      const int priority = static_cast<int>(random() % 2), second = static_cast<int>(random() % 2);
      all.waits(uids[i], local, priority, second, random() % 2);
      if (i < 3) three.waits(uids[i], local, priority, second), chosen += uids[i];
    }
    std::string among_all = all.order();
    std::erase_if(among_all, [&](char each) { return chosen.find(each) == std::string::npos; });
    ASSERT_EQ(three.order(), among_all);
    ASSERT_EQ(all.head(), all.order(0, 1));
  }
}

TEST(PendingByUsage, PagesAndHeadsFollowEveryChange) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 30; ++round) {
    House house;
    std::vector<WorkloadId> waiting;
    int number = 0;
    for (int i = 0; i < 300; ++i) {
      switch (random() % 6) {
        case 0:
        case 1:
          waiting.push_back(house.waits("u" + std::to_string(number++), 1 + random() % 8,
                                        static_cast<int>(random() % 3), static_cast<int>(random() % 5), random() % 3));
          break;
        case 2:
          house.used(1 + random() % 8, random() % 4, random() % 10 == 0);
          random() % 2 == 0 ? house.queue.rank() : house.queue.rank(LocalQueueId(1 + random() % 8));
          break;
        case 3:
          if (const WorkloadId head = house.queue.head(); head.valid())
            house.queue.park(head, {{kCpu, Amount()}}, "No");
          break;
        case 4:
          house.queue.wake_all();
          break;
        default:
          if (waiting.empty()) break;
          const std::size_t at = random() % waiting.size();
          const WorkloadId one = waiting[at];
          if (random() % 3 == 0) {
            house.queue.set_preempted_for(one);
            break;
          }
          house.queue.erase(one);
          house.slots.leave(one);
          waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(at));
      }
      const auto broken = house.queue.check();
      ASSERT_TRUE(broken.empty()) << broken.front();
      const std::size_t from = random() % (waiting.size() + 1), limit = random() % 5;
      const auto all = house.queue.page(0, waiting.size()), some = house.queue.page(from, limit);
      for (std::size_t k = 0; k < some.size(); ++k) ASSERT_EQ(some[k], all[from + k]);
      ASSERT_EQ(some.size(), std::min(limit, waiting.size() - from));
    }
  }
}

}  // namespace
}  // namespace berth::engine::pending_by_usage_test
