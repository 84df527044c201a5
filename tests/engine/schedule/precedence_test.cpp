// Who preempted whom. rest_test.cpp has what follows from it.
#include "engine/schedule/precedence.h"

#include <gtest/gtest.h>

namespace berth::engine::precedence_test {
namespace {

using Ids = std::vector<WorkloadId>;

const QuotaNodeId kTree(std::size_t{1}), kOther(std::size_t{2});
const WorkloadId kA(std::size_t{0}), kB(std::size_t{1}), kC(std::size_t{2});

TEST(Precedence, FollowsPreemptorsOfPreemptors) {
  Precedence history;
  history.note(kTree, kA, kB);
  history.note(kTree, kB, kC);
  EXPECT_EQ(history.above(kTree, kC), (Ids{kA, kB}));
  EXPECT_EQ(history.above(kTree, kB), Ids{kA});
  EXPECT_EQ(history.above(kTree, kA), Ids());
  EXPECT_EQ(history.above(kOther, kC), Ids());
}

TEST(Precedence, SparesItsVictimsUntilItIsAdmitted) {
  Precedence history;
  history.note(kTree, kA, kB);
  history.note(kTree, kC, kA);
  EXPECT_EQ(history.protected_victims(kTree, kA), (Ids{kB, kC}));
  history.note_admitted(kTree, kA);
  EXPECT_EQ(history.protected_victims(kTree, kA), Ids{kC});
}

TEST(Precedence, RecallsWhomAMessageSpares) {
  Precedence history;
  history.recall(kTree, kA, kB);
  history.note(kTree, kB, kA);
  EXPECT_EQ(history.protected_victims(kTree, kA), Ids{kB});
  EXPECT_EQ(history.above(kTree, kB), Ids()) << "which of the two preempted the other is not known";
  history.note_admitted(kTree, kC);
  EXPECT_EQ(history.forget(kTree), (Ids{kA, kB}));
  history.recall(kTree, kC, kB);
  history.note_admitted(kTree, kC);
  EXPECT_EQ(history.protected_victims(kTree, kC), Ids());
}

TEST(Precedence, ForgetsOneTreeOrAll) {
  Precedence history;
  history.note(kTree, kA, kB);
  history.note(kOther, kB, kC);
  EXPECT_EQ(history.forget(kTree), (Ids{kA, kB}));
  EXPECT_EQ(history.protected_victims(kTree, kB), Ids());
  EXPECT_EQ(history.above(kOther, kC), Ids{kB});
  EXPECT_EQ(history.forget_all(), (Ids{kB, kC}));
  EXPECT_TRUE(history.empty());
}

}  // namespace
}  // namespace berth::engine::precedence_test
