// Every transition of a queue's state, the Commands that request them, and their effect on the queues below.
#include "volcano/queue_states.h"

#include <gmock/gmock.h>

#include <deque>
#include <map>

#include "api/volcano/names.h"
#include "volcano/quota_tree.h"
#include "volcano/support.h"

namespace berth::volcano::queue_states_test {
namespace {

using api::volcano::Queue;
using api::volcano::QueueState;
using ::testing::HasSubstr;
using enum QueueAction;

TEST(VolcanoQueueStates, EveryTransition) {
  struct Row {
    QueueState now;
    QueueAction action;
    QueueState when_empty, when_not;
  };
  const std::vector<Row> rows{
      {QueueState::kNone, kOpen, QueueState::kOpen, QueueState::kOpen},
      {QueueState::kNone, kClose, QueueState::kClosed, QueueState::kClosing},
      {QueueState::kNone, kSync, QueueState::kOpen, QueueState::kOpen},
      {QueueState::kOpen, kOpen, QueueState::kOpen, QueueState::kOpen},
      {QueueState::kOpen, kClose, QueueState::kClosed, QueueState::kClosing},
      {QueueState::kOpen, kSync, QueueState::kOpen, QueueState::kOpen},
      {QueueState::kClosing, kOpen, QueueState::kOpen, QueueState::kOpen},
      {QueueState::kClosing, kClose, QueueState::kClosed, QueueState::kClosing},
      {QueueState::kClosing, kSync, QueueState::kClosed, QueueState::kClosing},
      {QueueState::kClosed, kOpen, QueueState::kOpen, QueueState::kOpen},
      {QueueState::kClosed, kClose, QueueState::kClosed, QueueState::kClosed},
      {QueueState::kClosed, kSync, QueueState::kClosed, QueueState::kClosed},
      {QueueState::kUnknown, kOpen, QueueState::kOpen, QueueState::kOpen},
      {QueueState::kUnknown, kClose, QueueState::kClosed, QueueState::kClosing},
      {QueueState::kUnknown, kSync, QueueState::kUnknown, QueueState::kUnknown},
  };
  for (const Row& row : rows) {
    const std::string what = std::string(name_of(row.now)) + " " + std::to_string(static_cast<int>(row.action));
    EXPECT_EQ(next_state(row.now, row.action, 0), row.when_empty) << what;
    EXPECT_EQ(next_state(row.now, row.action, 2), row.when_not) << what;
  }
}

api::volcano::Command command(std::string action, std::string kind = "Queue",
                              std::string api_version = "scheduling.volcano.sh/v1beta1") {
  api::volcano::Command c;
  c.meta.name = "c";
  c.meta.ns = "n";
  c.action = std::move(action);
  c.target = {std::move(api_version), std::move(kind), "q", "uid", true, true};
  return c;
}

TEST(VolcanoQueueCommands, OpenAndClose) {
  const auto open = order_of(command("OpenQueue")), close = order_of(command("CloseQueue"));
  ASSERT_TRUE(open && *open && close && *close);
  EXPECT_EQ((*open)->action, kOpen);
  EXPECT_EQ((*close)->action, kClose);
  EXPECT_EQ((*close)->queue, "q");
  EXPECT_EQ((*close)->uid, "uid");
  EXPECT_EQ(order_of(command("BurnQueue")).error().message,
            "Command n/c: action: \"BurnQueue\" cannot be done to queue q: it must be OpenQueue or CloseQueue");
  EXPECT_FALSE(order_of(command("AbortJob", "Job", "batch.volcano.sh/v1alpha1")).value());
  EXPECT_FALSE(order_of(command("OpenQueue", "Queue", "scheduling.volcano.sh/v1alpha2")).value());
}

// Writes the decided changes and continues until no task is left.
class VolcanoQueueCascade : public ::testing::Test {
 protected:
  void have(std::string_view name, std::string_view parent = "root", QueueState state = QueueState::kOpen) {
    tree.set(testing::pointer(testing::queue(name, {.parent = parent, .state = state})));
  }
  void move(std::string_view name, std::string_view parent) {
    Queue q = *tree.forest().find(name)->object;
    q.parent = parent;
    tree.set(testing::pointer(std::move(q)));
    act(name, kSync);
  }
  std::string act(std::string_view name, QueueAction action) {
    std::deque<QueueTask> tasks{{std::string(name), action}};
    std::string error;
    for (int steps = 0; !tasks.empty(); ++steps) {
      if (steps > 100) {
        ADD_FAILURE() << "it does not end";
        return {};
      }
      const QueueTask task = tasks.front();
      tasks.pop_front();
      const auto result =
          carry_out(tree.forest(), task, [this](std::string_view queue) { return groups[std::string(queue)]; });
      if (!result) {
        error = result.error().message;
        continue;
      }
      for (const QueueChange& change : result->changes) write(change);
      tasks.insert(tasks.end(), result->tasks.begin(), result->tasks.end());
      const auto again = carry_out(tree.forest(), {task.queue, kSync},
                                   [this](std::string_view queue) { return groups[std::string(queue)]; });
      EXPECT_EQ(again, QueueSteps{}) << task.queue << " is not as it shall be after it was dealt with";
    }
    return error;
  }
  void write(const QueueChange& change) {
    Queue q = *tree.forest().find(change.queue)->object;
    if (change.state) q.status.state = *change.state;
    if (change.closed_by_parent)
      q.meta.annotations["volcano.sh/closed-by-parent"] = *change.closed_by_parent ? "true" : "false";
    if (change.name_root) q.parent = "root";
    tree.set(testing::pointer(std::move(q)));
  }
  std::string state(std::string_view name) const {
    return std::string(name_of(tree.forest().find(name)->object->status.state));
  }
  std::string mark(std::string_view name) const {
    const auto& annotations = tree.forest().find(name)->object->meta.annotations;
    const auto it = annotations.find("volcano.sh/closed-by-parent");
    return it == annotations.end() ? "" : it->second;
  }

  QuotaTree tree;
  std::map<std::string, std::size_t> groups;  // PodGroups by queue
};

TEST_F(VolcanoQueueCascade, ANewQueueBecomesOpenAndNamesRoot) {
  have("q", "", QueueState::kNone);
  EXPECT_EQ(act("q", kSync), "");
  EXPECT_EQ(state("q"), "Open");
  EXPECT_EQ(tree.forest().find("q")->object->parent, "root");
  have("root", "", QueueState::kNone);
  act("root", kSync);
  EXPECT_EQ(tree.forest().find("root")->object->parent, "");
}

// Volcano's end-to-end test "Queue Command Close And Open With Hierarchical Queues".
TEST_F(VolcanoQueueCascade, ChildrenFollowTheirParent) {
  have("queue1");
  have("queue11", "queue1");
  have("queue111", "queue11");
  EXPECT_EQ(act("queue1", kClose), "");
  for (const char* name : {"queue1", "queue11", "queue111"}) EXPECT_EQ(state(name), "Closed") << name;
  EXPECT_EQ(mark("queue1"), "");
  EXPECT_EQ(mark("queue11"), "true");
  EXPECT_EQ(mark("queue111"), "true");
  EXPECT_EQ(act("queue11", kOpen),
            "queue queue11 cannot be opened while its parent queue1 is Closed: open queue queue1 first");
  EXPECT_EQ(state("queue11"), "Closed");
  EXPECT_EQ(act("queue1", kOpen), "");
  for (const char* name : {"queue1", "queue11", "queue111"}) EXPECT_EQ(state(name), "Open") << name;
  EXPECT_EQ(mark("queue11"), "false");
  EXPECT_EQ(mark("queue111"), "false");
}

TEST_F(VolcanoQueueCascade, WhatSomebodyClosedByHandStaysClosed) {
  have("parent");
  have("by-hand", "parent");
  have("other", "parent");
  act("by-hand", kClose);
  act("parent", kClose);
  EXPECT_EQ(mark("by-hand"), "");
  act("parent", kOpen);
  EXPECT_EQ(state("by-hand"), "Closed");
  EXPECT_EQ(state("other"), "Open");
  EXPECT_EQ(act("by-hand", kOpen), "");
  EXPECT_EQ(state("by-hand"), "Open");
}

TEST_F(VolcanoQueueCascade, AParentDoesNotWaitForItsChildren) {
  have("parent");
  have("busy", "parent");
  groups["busy"] = 1;
  act("parent", kClose);
  EXPECT_EQ(state("parent"), "Closed");
  EXPECT_EQ(state("busy"), "Closing");
  groups["busy"] = 0;  // the last PodGroup was deleted
  act("busy", kSync);
  EXPECT_EQ(state("busy"), "Closed");
  groups["parent"] = 1;  // it was created before the queue had children
  act("parent", kOpen);
  act("parent", kClose);
  EXPECT_EQ(state("parent"), "Closing");
  EXPECT_EQ(act("busy", kOpen),
            "queue busy cannot be opened while its parent parent is Closing: open queue parent first");
}

TEST_F(VolcanoQueueCascade, AQueueThatMovesFollowsItsNewParent) {
  have("closed");
  have("open");
  have("q", "open");
  have("below", "q");
  act("closed", kClose);
  move("q", "closed");
  EXPECT_EQ(state("q"), "Closed");
  EXPECT_EQ(mark("q"), "true");
  EXPECT_EQ(state("below"), "Closed");
  move("q", "open");
  EXPECT_EQ(state("q"), "Open");
  EXPECT_EQ(state("below"), "Open");
  act("q", kClose);  // by a client, so it stays closed
  move("q", "closed");
  move("q", "open");
  EXPECT_EQ(state("q"), "Closed");
}

TEST_F(VolcanoQueueCascade, AQueueCreatedBelowAClosedOneIsClosed) {
  have("parent");
  act("parent", kClose);
  have("late", "parent", QueueState::kNone);
  act("late", kSync);
  EXPECT_EQ(state("late"), "Closed");
  EXPECT_EQ(mark("late"), "true");
}

TEST_F(VolcanoQueueCascade, RootIsNotClosedAndWhatIsGoneIsLeftAlone) {
  have("root", "");
  EXPECT_EQ(act("root", kClose), "queue root cannot be closed: close the queues below it");
  EXPECT_EQ(state("root"), "Open");
  EXPECT_EQ(act("gone", kClose), "");
}

TEST_F(VolcanoQueueCascade, CirclesEnd) {
  have("a", "b");
  have("b", "a");
  have("self", "self");
  for (const QueueAction action : {kClose, kOpen, kSync}) {
    for (const char* name : {"a", "b", "self"}) {
      const auto result = carry_out(tree.forest(), {name, action}, [](std::string_view) { return std::size_t{0}; });
      EXPECT_TRUE(!result || result->changes.size() <= 2) << name;
    }
  }
}

// While a parent is being closed, the queues below it admit nothing more.
TEST_F(VolcanoQueueCascade, TheTreeHoldsBackWhoIsBelowAClosedQueueAtOnce) {
  have("parent");
  have("child", "parent");
  EXPECT_EQ(tree.obstacle("child"), "");
  write({"parent", QueueState::kClosing, {}, false});
  EXPECT_EQ(tree.obstacle("child"), "queue parent is Closing: open it");
}

}  // namespace
}  // namespace berth::volcano::queue_states_test
