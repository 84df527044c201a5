#include "engine/queue/usage_book.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "engine/queue/book.h"

namespace berth::engine::usage_book_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using usage_books::Book;
using usage_books::kStart;
using usage_books::rules;

// The worked example of KEP-4136's documents: a week, five minutes, ten cpus.
TEST(UsageBook, TheEntryPenaltyIsWhatOneSamplingIntervalCosts) {
  Book book;
  const AccountId a = book.queue("ns/a");
  UseId use;
  book.charge(use, a, book.cpu(10'000), std::nullopt);
  const long double alpha = 1 - std::exp2(-5.0L / (168 * 60));
  EXPECT_NEAR(alpha, 0.000344L, 0.0000005L);
  EXPECT_NEAR(book.billionths(a), alpha * 10e9L, 1);
  EXPECT_EQ(to_quantity(book.score(a)).to_string(), "3437639n");
  book.discharge(use);
  EXPECT_EQ(book.billionths(a), 0) << "a reservation that failed costs nothing";
}

TEST(UsageBook, AnAdmittedWorkloadCountsAsIfItHadRunForOneIntervalAlready) {
  Book book(rules(hours(1), minutes(6)));
  const AccountId a = book.queue("ns/a");
  UseId use;
  book.charge(use, a, book.cpu(1'000), std::nullopt);
  const long double in_advance = book.billionths(a);
  book.charge(use, a, book.cpu(1'000), kStart);
  EXPECT_NEAR(book.billionths(a), in_advance, 1e-6L) << "admission changes nothing";
  book.set_time(kStart + minutes(5));
  EXPECT_NEAR(book.billionths(a), in_advance, 1e-6L) << "as the use grows, less is charged in advance";
  book.set_time(kStart + minutes(6));
  EXPECT_NEAR(book.billionths(a), in_advance, 1e-6L);
  book.set_time(kStart + minutes(60));
  EXPECT_NEAR(book.billionths(a), 0.5e9L, 1e-6L);
  book.discharge(use);
  EXPECT_NEAR(book.billionths(a), 0.5e9L, 1e-6L) << "what was used stays";
  book.set_time(kStart + minutes(180));
  EXPECT_NEAR(book.billionths(a), 0.125e9L, 1e-6L);
}

TEST(UsageBook, WhoEndsEarlyPaysForWhatItUsed) {
  Book book(rules(hours(1), minutes(30)));
  const AccountId a = book.queue("ns/a");
  UseId use;
  book.charge(use, a, book.cpu(1'000), kStart);
  book.set_time(kStart + minutes(10));
  book.discharge(use);
  EXPECT_NEAR(book.billionths(a), 1e9L * (1 - std::exp2(-10.0L / 60)), 1);
}

TEST(UsageBook, WeightsOfQueuesAndResources) {
  auto weighted = rules(hours(1));
  weighted.resource_weights = {{"gpu", *Quantity::parse("5")}, {"memory", Quantity()}};
  Book book(weighted);
  const AccountId one = book.queue("ns/one"), four = book.queue("ns/four", "4"), tenth = book.queue("ns/tenth", "100m"),
                  zero = book.queue("ns/zero", "0"), idle = book.queue("ns/idle", "0");
  const auto uses = [&](AccountId queue, const char* resource, std::uint64_t amount) {
    UseId use;
    book.charge(use, queue, {{book.resource(resource), amount}}, kStart - hours(10'000));
  };
  uses(one, "gpu", 1);
  uses(one, "memory", 1 << 30);
  uses(four, "cpu", 16'000);
  uses(tenth, "cpu", 1'000);
  uses(zero, "cpu", 1);
  book.set_time(kStart + hours(10'000));
  EXPECT_EQ(to_quantity(book.score(one)).to_string(), "4999999995n");
  EXPECT_EQ(to_quantity(book.score(four)).to_string(), "3999999999n");
  EXPECT_EQ(to_quantity(book.score(tenth)).to_string(), "9999999990n");
  EXPECT_LT(book.score(tenth), book.score(idle)) << "weight 0 is last, even without usage";
  EXPECT_LT(book.score(idle), book.score(zero)) << "those are compared by usage";
}

TEST(UsageBook, WhatTheStatusDoesNotTellDecidesNothing) {
  Book book;
  const AccountId a = book.queue("ns/a", "1n"), b = book.queue("ns/b");
  UseId use;
  book.charge(use, a, book.cpu(1), kStart);
  book.set_time(kStart + Duration(1));
  book.discharge(use);
  EXPECT_EQ(book.score(a), book.score(b)) << "a millicpu for a microsecond";
}

TEST(UsageBook, AmountsOfAResourceAreAddedInWhateverOrder) {
  Book book;
  const AccountId a = book.queue("ns/a"), b = book.queue("ns/b");
  const auto cpu = book.resource("cpu"), memory = book.resource("memory"), pods = book.resource("pods");
  UseId first, second, empty;
  book.charge(first, a, {{pods, 2}, {memory, 70}, {cpu, 300}, {memory, 30}, {pods, 0}}, std::nullopt);
  book.charge(second, b, {{cpu, 300}, {memory, 100}, {pods, 2}}, std::nullopt);
  book.charge(empty, b, {{cpu, 0}}, std::nullopt);
  EXPECT_GT(book.score(a).value, 0u);
  EXPECT_EQ(book.score(a), book.score(b));
  book.discharge(first);
  EXPECT_EQ(book.score(a), Score());
  UseId third;  // takes the place of the first
  book.charge(third, a, {{memory, 100}, {cpu, 300}, {pods, 2}}, std::nullopt);
  EXPECT_EQ(book.score(a), book.score(b));
  EXPECT_TRUE(book.check().empty());
}

// At rest, whatever time has passed since: a book that begins with the statuses and the claims has the same scores, and
// samples that tell nothing new. Both would be writes and another order after a restart.
TEST(UsageBook, ARestartAtRestChangesNothing) {
  for (const int halvings : {1, 40, 70, 5'000}) {
    Book book(rules(hours(1)));
    std::vector<std::vector<std::uint64_t>> jobs = {{}, {1'234}, {777, 1, 3}, {4'000, 333}};
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const AccountId queue = book.queue("ns/" + std::to_string(i));
      UseId ended;
      book.charge(ended, queue, book.cpu(10'000 * i), kStart - hours(3));  // more than it uses now
      book.set_time(kStart + hours(1));
      book.discharge(ended);
      for (const std::uint64_t each : jobs[i]) {
        UseId use;
        book.charge(use, queue, book.cpu(each), kStart);
      }
    }
    book.take_samples();
    while (const auto when = book.next_sample()) book.set_time(*when), book.take_samples();
    const Time later = book.sample(book.find("ns/1")).at + hours(halvings);
    book.set_time(later);
    Book fresh(rules(hours(1)));
    fresh.set_time(later);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const auto& sample = book.sample(book.find("ns/" + std::to_string(i)));
      const AccountId queue = fresh.queue("ns/" + std::to_string(i));
      fresh.recall(queue, {{fresh.resource("cpu"), sample.used.at(0).amount}}, sample.at);
      for (const std::uint64_t each : jobs[i]) {
        UseId use;
        fresh.charge(use, queue, fresh.cpu(each), kStart);
      }
    }
    EXPECT_TRUE(fresh.take_samples().empty()) << halvings;
    EXPECT_EQ(fresh.next_sample(), std::nullopt) << halvings;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const std::string name = "ns/" + std::to_string(i);
      EXPECT_EQ(fresh.score(fresh.find(name)), book.score(book.find(name))) << halvings << " " << name;
    }
  }
}

TEST(UsageBook, WithoutAHalfLifeThePastDoesNotCount) {
  Book book(rules(Duration(0)));
  const AccountId a = book.queue("ns/a");
  UseId use;
  book.charge(use, a, book.cpu(4'000), std::nullopt);
  book.charge(use, a, book.cpu(4'000), kStart);
  book.recall(a, {{book.resource("cpu"), 5'000'000'000}}, kStart);
  book.set_time(kStart + hours(1));
  EXPECT_EQ(book.score(a), Score());
  EXPECT_EQ(book.take_samples().size(), 1u) << "what the status told is reset";
  EXPECT_TRUE(book.sample(a).used.empty());
  EXPECT_EQ(book.next_sample(), std::nullopt);
  EXPECT_EQ(book.claims(), 0u);
}

TEST(UsageBook, SamplesAreTakenWhileTheyDiffer) {
  Book book(rules(std::chrono::milliseconds(100), seconds(1)));
  const AccountId a = book.queue("ns/a"), b = book.queue("ns/b");
  EXPECT_TRUE(book.take_samples().empty());
  EXPECT_TRUE(book.sample(a).used.empty()) << "nothing is used in the cluster queue yet";
  UseId use;
  book.charge(use, a, book.cpu(4'000), kStart);
  EXPECT_EQ(book.take_samples().size(), 2u) << "b too: a zero for the resource";
  EXPECT_EQ(book.sample(b).used, (std::vector<UsageBook::Used>{{book.resource("cpu"), 0}}));
  int samples = 0;
  while (const auto when = book.next_sample()) {
    book.set_time(*when);
    samples += static_cast<int>(book.take_samples().size());
  }
  EXPECT_EQ(samples, 4) << "4 is reached as 3999999999n after 32 halvings: in the fourth second";
  EXPECT_EQ(book.sample(a).at, kStart + seconds(4));
  book.set_time(kStart + seconds(100));
  UseId waits;
  book.charge(waits, a, book.cpu(1), std::nullopt);
  EXPECT_TRUE(book.take_samples().empty()) << "who only waits uses nothing";
  book.discharge(waits);
  EXPECT_EQ(book.take_samples().size(), 1u) << "what follows from the last sample may be true no longer";
  EXPECT_EQ(book.sample(a).at, kStart + seconds(100));
  EXPECT_EQ(book.sample(a).used, (std::vector<UsageBook::Used>{{book.resource("cpu"), 3'999'999'999}}));
  book.discharge(use);
  book.take_samples();
  while (const auto when = book.next_sample()) {
    book.set_time(*when);
    book.take_samples();
  }
  EXPECT_EQ(book.sample(a).used, book.sample(b).used) << "nothing is left, and no sample is due any more";
}

TEST(UsageBook, ALocalQueueThatComesBackBeginsAnew) {
  Book book(rules(hours(1)));
  AccountId a = book.queue("ns/a");
  UseId use;
  book.charge(use, a, book.cpu(1'000), kStart);
  book.set_time(kStart + hours(1));
  book.close(a);
  EXPECT_TRUE(book.check().empty());
  a = book.open("ns/a", "cq", {1, 1}, book.sample(book.queue("ns/b")).at);
  EXPECT_EQ(book.score(a), Score());
  book.charge(use, a, book.cpu(1'000), kStart);
  EXPECT_LT(book.billionths(a), 0.1e9L) << "what ran before counts only from now on";
  book.discharge(use);
  EXPECT_EQ(book.score(a), Score());
  EXPECT_EQ(book.claims(), 0u);
}

TEST(UsageBook, TheOrderOfIdleQueuesDoesNotChange) {
  std::mt19937_64 random(3);
  Book book(rules(hours(1)));
  std::vector<AccountId> queues;
  for (int i = 0; i < 50; ++i) {
    queues.push_back(book.queue("ns/" + std::to_string(i)));
    book.recall(queues.back(), {{book.resource("cpu"), random() % 1'000'000'000'000}}, kStart);
  }
  const auto order = [&] {
    auto sorted = queues;
    std::ranges::stable_sort(sorted, {}, [&](AccountId each) { return book.score(each); });
    return sorted;
  };
  const auto before = order();
  for (int hour = 0; hour < 24; ++hour) {
    book.set_time(kStart + hours(hour) + minutes(static_cast<int>(random() % 60)));
    ASSERT_EQ(order(), before);
  }
}

TEST(UsageBook, HostileAmountsSaturate) {
  Book book(rules(seconds(1)));
  const AccountId a = book.queue("ns/a", "1n");
  const Wide huge = ~Wide{0};
  book.recall(a, {{book.resource("bytes"), huge}, {book.resource("bytes"), huge}}, kStart + hours(24));
  std::vector<UseId> uses(3);
  for (UseId& each : uses)
    book.charge(each, a, {{book.resource("bytes"), std::numeric_limits<std::int64_t>::max()}}, Time::min());
  book.set_time(kStart + hours(1));
  EXPECT_GT(book.score(a).value, 0u);
  book.take_samples();
  for (UseId& each : uses) book.discharge(each);
  EXPECT_TRUE(book.check().empty());
}

}  // namespace
}  // namespace berth::engine::usage_book_test
