// Processing of keys: once for many changes, without a delay when there is nothing to collect, and again when a key
// changed.
#include "controller/work_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace berth::controller::work_queue_test {
namespace {

using namespace std::chrono_literals;

struct Looks {
  VirtualExecutor executor{Time(std::chrono::seconds(1'763'715'600))};
  std::vector<std::string> seen;  // "key@milliseconds"
  bool hold = false;
  WorkQueue::Finish held;
  const Time start = executor.now();
  WorkQueue queue{executor,
                  [this](const std::string& key, WorkQueue::Finish finish) {
                    const auto at = std::chrono::duration_cast<std::chrono::milliseconds>(executor.now() - start);
                    seen.push_back(key + "@" + std::to_string(at.count()));
                    if (hold) {
                      held = std::move(finish);
                    } else {
                      finish(true);
                    }
                  },
                  100ms};
  void run_for(Duration d) { executor.run_until(executor.now() + d); }
};

using Names = std::vector<std::string>;

// A queue whose looks end when the test says so.
struct Held {
  explicit Held(std::size_t most_running)
      : queue(
            executor,
            [this](const std::string& key, WorkQueue::Finish finish) {
              seen.push_back(key);
              held.push_back(std::move(finish));
            },
            Duration(0), nullptr, most_running) {}
  void pass() { executor.run_until(executor.now() + 1s); }

  VirtualExecutor executor{Time(std::chrono::seconds(1))};
  Names seen;
  std::vector<WorkQueue::Finish> held;
  WorkQueue queue;
};

TEST(WorkQueue, CollectsChangesOfAKey) {
  Looks looks;
  looks.queue.add("a");
  looks.run_for(50ms);
  looks.queue.add("a");
  looks.queue.add("b");
  looks.run_for(1s);
  EXPECT_EQ(looks.seen, (Names{"a@100", "b@150"}));
}

TEST(WorkQueue, TheOthersWaitWhileTooManyAreProcessed) {
  Held looks(2);
  for (const auto* key : {"a", "b", "c", "d", "c"}) looks.queue.add(key);
  looks.pass();
  EXPECT_EQ(looks.seen, (Names{"a", "b"}));
  looks.held[0](true);
  looks.pass();
  looks.queue.add("d");
  EXPECT_EQ(looks.seen, (Names{"a", "b", "c"}));
  looks.held[1](false);  // b is tried again after those that waited before
  looks.pass();
  EXPECT_EQ(looks.seen, (Names{"a", "b", "c", "d"}));
  looks.held[2](true);
  looks.held[3](true);
  looks.pass();
  EXPECT_EQ(looks.seen, (Names{"a", "b", "c", "d", "b"})) << "each of them once";
}

TEST(WorkQueue, NamespacesTakeTurns) {
  Held looks(1);
  for (const auto* key : {"a/1", "a/2", "a/3", "b/1", "b/2", "c/1"}) looks.queue.add(key);
  for (std::size_t i = 0; i < 6; ++i) {
    looks.pass();
    looks.held[i](true);
  }
  EXPECT_EQ(looks.seen, (Names{"a/1", "a/2", "b/1", "c/1", "a/3", "b/2"}));
}

TEST(WorkQueue, LinesMayBeOthersThanNamespaces) {
  Held looks(1);
  looks.queue.line_by([](const std::string& key) { return key.substr(2); });
  for (const auto* key : {"a/1", "b/1", "c/1", "a/2"}) looks.queue.add(key);
  for (std::size_t i = 0; i < 4; ++i) {
    looks.pass();
    looks.held[i](true);
  }
  EXPECT_EQ(looks.seen, (Names{"a/1", "b/1", "a/2", "c/1"}));
}

TEST(WorkQueue, WhatGoesFirstDoesNotWaitBehindOthers) {
  Held looks(1);
  for (const auto* key : {"a", "b", "c", "d", "e"}) looks.queue.add(key);
  looks.pass();
  looks.queue.add_first("f");
  looks.queue.add_first("d");  // it waits already
  looks.queue.add_first("d");
  for (std::size_t i = 0; i < 10; ++i) {
    looks.pass();
    if (i < looks.held.size()) looks.held[i](true);
  }
  EXPECT_EQ(looks.seen, (Names{"a", "d", "f", "b", "c", "e"})) << "each of them once";
}

TEST(WorkQueue, TheOthersDoNotWaitForEver) {
  Held looks(1);
  looks.queue.add("running");
  looks.pass();
  looks.queue.add("new");
  for (int i = 0; i < 20; ++i) looks.queue.add_first("old-" + std::to_string(i));
  for (int i = 0; i < 10; ++i) {
    looks.pass();
    looks.held.back()(true);
  }
  EXPECT_EQ(looks.seen.at(8), "new");
}

// More keys become due than can be processed. Those that wait keep their place.
TEST(WorkQueue, NobodyOvertakesWhatWaits) {
  VirtualExecutor executor{Time(std::chrono::seconds(1))};
  Names seen;
  WorkQueue queue(
      executor,
      [&](const std::string& key, WorkQueue::Finish finish) {
        seen.push_back(key);
        executor.after(20ms, [finish = std::move(finish)] { finish(true); });
      },
      Duration(0), nullptr, 2);
  Names wanted;
  for (int i = 0; i < 500; ++i) {
    wanted.push_back(std::to_string(i));
    executor.after(7ms * i, [&queue, i] { queue.add(std::to_string(i)); });
  }
  executor.run_until(executor.now() + 60s);
  EXPECT_EQ(seen, wanted);
}

TEST(WorkQueue, LooksAtOnceWhenThereIsNothingToCollect) {
  Looks looks;
  looks.queue.add("a");
  looks.run_for(30ms);
  looks.queue.add_at_once("a");
  looks.queue.add_at_once("a");
  looks.queue.add("a");
  looks.run_for(1s);
  EXPECT_EQ(looks.seen, (Names{"a@30"})) << "once, and not again when the delay has passed";
  looks.queue.add("a");
  looks.run_for(1s);
  EXPECT_EQ(looks.seen, (Names{"a@30", "a@1130"})) << "later changes are collected again";
}

TEST(WorkQueue, SlowsDownWhatKeepsAskingToBeLookedAtAtOnce) {
  Looks looks;
  for (int i = 0; i < 1000; ++i) {
    looks.queue.add_at_once("a");
    looks.run_for(1ms);
  }
  EXPECT_GE(looks.seen.size(), 50u);
  EXPECT_LE(looks.seen.size(), 60u);
}

TEST(WorkQueue, LooksAgainAtWhatChangedMeanwhile) {
  Looks looks;
  looks.hold = true;
  looks.queue.add_at_once("a");
  looks.run_for(10ms);
  looks.queue.add("a");
  looks.run_for(500ms);
  EXPECT_EQ(looks.seen, (Names{"a@0"}));
  looks.hold = false;
  looks.held(true);
  looks.run_for(1s);
  EXPECT_EQ(looks.seen, (Names{"a@0", "a@610"}));
}

TEST(WorkQueue, KeysTakeTurnsWhenManyAreDue) {
  VirtualExecutor executor{Time(1'763'715'600s)};
  kube::RateLimit rate({10, 2}, executor.now());
  std::map<std::string, int> seen;
  std::map<std::string, Time> last_look;
  WorkQueue queue(
      executor,
      [&](const std::string& key, const WorkQueue::Finish& finish) {
        ++seen[key];
        last_look[key] = executor.now();
        finish(true);
      },
      100ms, &rate);
  for (int i = 0; i < 200; ++i) {  // ten seconds of changes of all keys
    for (const std::string key : {"a", "b", "c", "d", "e"}) queue.add(key);
    executor.run_until(executor.now() + 50ms);
  }
  int sum = 0;
  for (const auto& [key, count] : seen) {
    EXPECT_NEAR(count, 20, 2) << key;
    sum += count;
  }
  EXPECT_LE(sum, 102);
  const Time last_change = executor.now() - 50ms;
  executor.run_until(executor.now() + 2s);
  for (const auto& [key, when] : last_look)
    EXPECT_GE(when, last_change) << key << ": its last change is seen in the end";
}

}  // namespace
}  // namespace berth::controller::work_queue_test
