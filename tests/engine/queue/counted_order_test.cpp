// Compares the counted order with a sorted vector.
#include "engine/queue/counted_order.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <set>

namespace berth::engine::counted_order_test {
namespace {

using Order = CountedOrder<int, std::less<>>;

std::vector<int> page(const Order& order, std::size_t from, std::size_t most) {
  std::vector<int> out;
  if (most == 0) return out;
  order.visit(from, [&](int key) {
    out.push_back(key);
    return out.size() < most;
  });
  return out;
}

void expect_same(const Order& order, const std::vector<int>& sorted, std::size_t stride = 1) {
  ASSERT_EQ(order.size(), sorted.size());
  if (!sorted.empty()) {
    EXPECT_EQ(order.first(), sorted.front());
  }
  EXPECT_EQ(page(order, 0, sorted.size()), sorted);
  for (std::size_t i = 0; i < sorted.size(); i += stride) {
    ASSERT_EQ(order.position(sorted[i]), i);
    const int* found = order.find([&](int key) { return sorted[i] - key; });
    ASSERT_TRUE(found != nullptr && *found == sorted[i]);
    const bool next = i + 1 < sorted.size() && sorted[i + 1] == sorted[i] + 1;
    ASSERT_EQ(order.find([&](int key) { return sorted[i] + 1 - key; }) != nullptr, next);
    const auto some = page(order, i, 3);
    ASSERT_TRUE(std::equal(some.begin(), some.end(), sorted.begin() + static_cast<std::ptrdiff_t>(i)));
    ASSERT_EQ(some.size(), std::min<std::size_t>(3, sorted.size() - i));
  }
}

TEST(CountedOrder, EmptyShowsNothing) {
  const Order order{std::less<>()};
  EXPECT_TRUE(order.empty());
  EXPECT_EQ(page(order, 0, 5), std::vector<int>());
  EXPECT_EQ(page(order, 7, 5), std::vector<int>());
}

// Deep enough for three levels of nodes; filled and emptied from both ends and from the middle.
TEST(CountedOrder, KeepsPositionsWhileItGrowsAndShrinks) {
  constexpr int kKeys = 20'000, kStep = 7919;  // coprime: every key once
  for (const bool forwards : {true, false}) {
    Order order{std::less<>()};
    std::vector<int> sorted;
    for (int i = 0; i < kKeys; ++i) {
      order.insert(forwards ? i : kKeys - 1 - i);
      sorted.push_back(i);
    }
    expect_same(order, sorted, 37);
    for (int i = 0; i < kKeys; ++i) {
      const int key = static_cast<int>(static_cast<std::int64_t>(i) * kStep % kKeys);
      order.erase(key);
      sorted.erase(std::lower_bound(sorted.begin(), sorted.end(), key));
      if (i % 1000 == 999) expect_same(order, sorted, 37);
    }
    EXPECT_TRUE(order.empty());
    order.insert(5);
    expect_same(order, {5});
  }
}

RC_GTEST_PROP(CountedOrderProperty, IsASortedVector, (const std::vector<std::pair<bool, std::uint16_t>>& moves)) {
  Order order{std::less<>()};
  std::set<int> known;
  // A small range, so that keys are inserted and erased often; each move covers a run of neighbours, so that nodes
  // split and merge.
  for (const auto& [more, seed] : moves) {
    for (int key = seed % 400, end = key + seed % 97; key < end; ++key) {
      if (more && known.insert(key).second) order.insert(key);
      if (!more && known.erase(key) > 0) order.erase(key);
    }
    expect_same(order, {known.begin(), known.end()});
  }
}

// Erased keys are never compared again: what they referred to may have been reused.
TEST(CountedOrder, ComparesOnlyKeysThatAreThere) {
  std::set<int> alive;
  const auto before = [&](int a, int b) {
    EXPECT_TRUE(alive.contains(a) && alive.contains(b));
    return a < b;
  };
  CountedOrder<int, decltype(before)> order(before);
  for (int i = 0; i < 3000; ++i) {
    const int key = i * 1009 % 3001;
    alive.insert(key);
    order.insert(key);
  }
  for (int i = 0; i < 3000; i += 2) {
    const int key = i * 1009 % 3001;
    order.erase(key);
    alive.erase(key);
  }
  for (const int key : alive) order.position(key);
  EXPECT_EQ(order.size(), alive.size());
}

}  // namespace
}  // namespace berth::engine::counted_order_test
