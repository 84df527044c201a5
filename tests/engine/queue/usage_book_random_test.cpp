// Past usage of random claims, against a recomputation in floating point.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "engine/queue/book.h"
#include "engine/queue/usage_book.h"

namespace berth::engine::usage_book_random_test {
namespace {

using std::chrono::seconds;
using usage_books::Book;
using usage_books::kStart;
using usage_books::rules;

// Random claims of two queues, against a recomputation that takes steps of one second in floating point.
struct Story {
  explicit Story(std::uint64_t seed) : random(seed), half_life(seconds(60 + random() % 6'000)), book(rules(half_life)) {
    for (int i = 0; i < 2; ++i) {
      queues.push_back(book.queue("ns/" + std::to_string(i)));
      naive.push_back(0);
    }
  }
  struct Held {
    std::size_t queue = 0;
    std::uint64_t milli = 0;
    bool runs = false;
    Time since{};
    UseId use;
  };
  void act() {
    switch (random() % 4) {
      case 0:
        held.push_back({random() % 2, 1 + random() % 100'000, false, {}, {}});
        break;
      case 1:
        for (Held& each : held) {
          if (!each.runs && random() % 2 == 0) each.runs = true, each.since = now;
        }
        break;
      case 2:
        if (!held.empty()) held[random() % held.size()].milli = 1 + random() % 100'000;
        break;
      default:
        if (held.empty()) break;
        const std::size_t i = random() % held.size();
        book.discharge(held[i].use);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (int times = 0; times < 2; ++times) charge_all(book);
  }
  void charge_all(Book& any) {
    for (Held& each : held)
      any.charge(each.use, queues[each.queue], any.cpu(each.milli),
                 each.runs ? std::optional(each.since) : std::nullopt);
  }
  void second() {
    const long double left = std::exp2(-1e6L / static_cast<long double>(half_life.count()));
    for (std::size_t i = 0; i < queues.size(); ++i) {
      long double running = 0;
      for (const Held& each : held) running += each.queue == i && each.runs ? 1e6L * each.milli : 0;
      naive[i] = naive[i] * left + running * (1 - left);
    }
    now += seconds(1);
    book.set_time(now);
  }
  long double consumed(const Book& any, std::size_t i) const {
    const auto& used = any.sample(queues[i]).used;
    return used.empty() ? 0 : static_cast<long double>(used.front().amount);
  }

  std::mt19937_64 random;
  Duration half_life;
  Book book;
  Time now = kStart;
  std::vector<AccountId> queues;
  std::vector<long double> naive;  // billionths
  std::vector<Held> held;
};

TEST(UsageBook, EqualsARecomputationInSmallSteps) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Story story(seed);
    for (int i = 0; i < 5'000; ++i) {
      if (story.random() % 20 == 0) story.act();
      story.second();
    }
    story.book.take_samples();
    ASSERT_TRUE(story.book.check().empty()) << story.book.check().front();
    for (std::size_t i = 0; i < 2; ++i) {
      // One billionth because the sample cuts, and what 5,000 steps of floating point lose of 10^13.
      ASSERT_NEAR(story.consumed(story.book, i), story.naive[i], 1.01L) << "seed " << seed;
    }
  }
}

// A second book learns the samples at a random time, and the claims as the API holds them.
TEST(UsageBook, ARestartInTheMiddleChangesNothing) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Story story(seed), again(seed);
    const int restart = static_cast<int>(story.random() % 2'000);
    again.random();
    for (int i = 0; i < 4'000; ++i) {
      const bool acts = story.random() % 20 == 0;
      again.random();
      if (acts) story.act(), again.act();
      if (acts) again.book.take_samples();  // the status is written when claims change
      story.second();
      again.second();
      if (i != restart) continue;
      Book fresh(rules(again.half_life));
      fresh.set_time(again.now + seconds(0));
      for (const AccountId each : again.queues) {
        const AccountId id = fresh.queue(again.book.local_queue(each));
        ASSERT_EQ(id, each);
        std::vector<UsageBook::Used> used;
        for (const auto& amount : again.book.sample(each).used) used.push_back({fresh.resource("cpu"), amount.amount});
        fresh.recall(id, used, again.book.sample(each).at);
      }
      for (auto& each : again.held) each.use = UseId();
      again.charge_all(fresh);
      again.charge_all(fresh);
      again.book = fresh;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      // The status cuts to billionths.
      ASSERT_NEAR(story.book.billionths(story.queues[i]), again.book.billionths(again.queues[i]), 1.01L)
          << "seed " << seed;
    }
  }
}

TEST(UsageBook, AScoreDoesNotDependOnEarlierQuestions) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Story asked(seed), silent(seed);
    for (int i = 0; i < 500; ++i) {
      for (Story* each : {&asked, &silent}) {
        if (each->random() % 3 == 0) each->act();
        if (each->random() % 2 == 0) each->second();
      }
      for (const AccountId queue : asked.queues) {
        Book copy = silent.book;
        ASSERT_EQ(asked.book.score(queue), copy.score(queue)) << "seed " << seed << ", step " << i;
      }
    }
  }
}

TEST(UsageBook, NothingIsChargedInAdvanceForClaimsThatAreGone) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Story story(seed);
    for (int i = 0; i < 1'000; ++i) {
      if (story.random() % 3 == 0) story.act();
      story.second();
      ASSERT_TRUE(story.book.check().empty()) << story.book.check().front();
    }
    for (auto& each : story.held) story.book.discharge(each.use);
    ASSERT_EQ(story.book.claims(), 0u);
    for (std::size_t i = 0; i < 2; ++i)
      ASSERT_NEAR(story.book.billionths(story.queues[i]), story.naive[i], 1.01L) << "seed " << seed;
  }
}

}  // namespace
}  // namespace berth::engine::usage_book_random_test
