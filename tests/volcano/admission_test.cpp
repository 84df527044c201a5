// Which queues, Jobs and PodGroups are admitted: every case of Volcano's own tests with its verdict, and each rule
// that is stricter in Berth, with the rule on and off.
#include "volcano/admission.h"

#include <gmock/gmock.h>

#include <map>

#include "volcano/support.h"

namespace berth::volcano::admission_test {
namespace {

using api::volcano::Queue;
using api::volcano::QueueState;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::pointer;
using testing::queue;

class VolcanoAdmission : public ::testing::Test {
 protected:
  void have(std::string_view name, const testing::QueueText& text = {}) { forest.set(pointer(queue(name, text))); }
  // root -> first name -> second name -> ...
  void have_chain(std::initializer_list<std::string_view> names) {
    std::string_view parent;
    for (const std::string_view name : names) {
      have(name, {.parent = parent});
      parent = name;
    }
  }
  Admission admission() const {
    return Admission(forest, options, [this](std::string_view name) {
      const auto it = holders.find(name);
      return it == holders.end() ? 0 : it->second;
    });
  }
  std::string create(std::string_view name, const testing::QueueText& text = {}) const {
    return to_string(admission().create(queue(name, text)));
  }
  // The verdict on a change of the present queue to `text`.
  std::string update(std::string_view name, const testing::QueueText& text) const {
    const Queue now = queue(name, text);
    return to_string(admission().update(now, *forest.find(name)->object));
  }
  std::string remove(std::string_view name) const {
    const auto result = admission().remove(name);
    return result ? "" : result.error().message;
  }

  QueueForest forest;
  AdmissionOptions options;
  std::map<std::string, std::size_t, std::less<>> holders;
};

// --- Volcano's TestAdmitHierarchicalQueues.

TEST_F(VolcanoAdmission, AQueueIsNotItsOwnParent) {
  EXPECT_EQ(create("q", {.parent = "q"}),
            "spec.parent: Invalid value: \"q\": queue q cannot be its own parent: name another queue, or none to be "
            "below root");
}

TEST_F(VolcanoAdmission, AChildlessParentWithAllocatedPodsIsRefused) {
  have("parent", {.parent = "root", .allocated = "pods=1"});
  EXPECT_EQ(create("child", {.parent = "parent"}),
            "spec.parent: Invalid value: \"parent\": queue parent cannot become the parent of queue child while 1 pod "
            "is allocated in it: let them "
            "finish, or name another parent");
}

TEST_F(VolcanoAdmission, AParentWithoutAllocatedPodsIsFine) {
  have("parent", {.parent = "root", .allocated = "pods=0,cpu=0"});
  EXPECT_EQ(create("child", {.parent = "parent"}), "");
  have("idle");
  EXPECT_EQ(create("child", {.parent = "idle"}), "");
}

TEST_F(VolcanoAdmission, AParentThatHasChildrenAcceptsAnotherWhateverRunsBelowIt) {
  have("parent", {.allocated = "pods=1"});
  have("a", {.parent = "parent", .allocated = "pods=1"});
  holders["a"] = holders["parent"] = 3;
  EXPECT_EQ(create("b", {.parent = "parent"}), "");
}

TEST_F(VolcanoAdmission, AQueueWithChildrenIsNotDeleted) {
  have("parent");
  have("child", {.parent = "parent"});
  EXPECT_EQ(remove("parent"),
            "queue parent cannot be deleted: it has 1 child queue(s): child. Delete or move them first");
  EXPECT_EQ(remove("child"), "");
}

TEST_F(VolcanoAdmission, AQueueWithAllocatedPodsIsDeletedUnlessTheFlagForbidsIt) {
  have("q", {.allocated = "pods=1"});
  EXPECT_EQ(remove("q"), "");
  options.delete_only_unallocated = true;
  EXPECT_EQ(remove("q"), "queue q cannot be deleted: 1 pod is allocated in it: close it and let them finish");
  have("q");
  EXPECT_EQ(remove("q"), "");
  holders["q"] = 2;  // quota is reserved, and there is no pod yet
  EXPECT_EQ(remove("q"), "queue q cannot be deleted: 2 workloads hold quota in it: close it and let them finish");
  options.count_reservations = false;
  EXPECT_EQ(remove("q"), "");
}

TEST_F(VolcanoAdmission, AChildIsNotCapableOfMoreThanItsParent) {
  have("parent", {.capability = "cpu=10"});
  EXPECT_EQ(create("child", {.parent = "parent", .capability = "cpu=20"}),
            "spec.capability.cpu: Invalid value: \"20\": queue child cannot be capable of more cpu than its ancestor "
            "parent, which has 10: lower it, or "
            "raise that one first");
}

TEST_F(VolcanoAdmission, SiblingsAreNotGuaranteedMoreThanTheirParent) {
  const std::string_view parent = "cpu=8,memory=16Gi", sibling = "cpu=2,memory=4Gi", more = "cpu=7,memory=14Gi";
  have("parent", {.deserved = parent, .guarantee = parent});
  have("sibling", {.parent = "parent", .deserved = sibling, .guarantee = sibling});
  EXPECT_THAT(create("new", {.parent = "parent", .deserved = more, .guarantee = more}),
              HasSubstr("spec.guarantee.resource.cpu: Invalid value: \"7\": with it the guarantee cpu of the children "
                        "of queue parent is 9, more than its "
                        "own 8: lower it, or raise guarantee of queue parent first"));
  EXPECT_EQ(create("new", {.parent = "parent", .deserved = "cpu=6", .guarantee = "cpu=6"}), "");
}

TEST_F(VolcanoAdmission, AParentIsNotLoweredBelowTheCapabilityOfAChild) {
  have("parent", {.capability = "cpu=20"});
  have("child", {.parent = "parent", .capability = "cpu=12"});
  EXPECT_EQ(update("parent", {.capability = "cpu=10"}),
            "spec.capability.cpu: Invalid value: \"10\": queue parent cannot be capable of less cpu than its "
            "descendant child, which has 12: raise it, or "
            "lower that one first");
  EXPECT_EQ(update("parent", {.capability = "cpu=12"}), "");
}

TEST_F(VolcanoAdmission, AParentIsNotLoweredBelowTheGuaranteesOfItsChildren) {
  have("parent", {.deserved = "cpu=15", .guarantee = "cpu=15"});
  have("a", {.parent = "parent", .deserved = "cpu=8", .guarantee = "cpu=8"});
  have("b", {.parent = "parent", .deserved = "cpu=5", .guarantee = "cpu=5"});
  EXPECT_EQ(update("parent", {.deserved = "cpu=15", .guarantee = "cpu=10"}),
            "spec.guarantee.resource.cpu: Invalid value: \"10\": the guarantee cpu of the children of queue parent is "
            "13 together, more than that: raise "
            "it, or lower theirs first");
}

TEST_F(VolcanoAdmission, AQueueDirectlyBelowRootIsMeasuredAgainstItsChildren) {
  have("top", {.parent = "", .capability = "cpu=100"});
  have("child", {.parent = "top", .capability = "cpu=50"});
  EXPECT_THAT(update("top", {.capability = "cpu=30"}), HasSubstr("spec.capability.cpu"));
  EXPECT_EQ(update("top", {.capability = "cpu=50"}), "");
}

// --- Volcano's TestValidateQueueDepthDynamic.

TEST_F(VolcanoAdmission, TheDepthIsLimited) {
  have_chain({"q1", "q2"});
  EXPECT_EQ(create("q3", {.parent = "q2"}), "");
  options.max_depth = 3;
  EXPECT_EQ(create("q3", {.parent = "q2"}), "");
  options.max_depth = 2;
  EXPECT_EQ(create("q3", {.parent = "q2"}),
            "spec.parent: Invalid value: \"q2\": queue q3 would be at level 3 below root, the limit is 2: name a "
            "parent closer to root");
  options.max_depth = 0;
  EXPECT_EQ(create("q3"), "");  // the depth of a queue directly below root is not checked
}

// --- Volcano's TestValidateChildAgainstAncestorForCapability.

TEST_F(VolcanoAdmission, TheNearestAncestorThatNamesAResourceLimitsIt) {
  have("grand", {.capability = "cpu=100,memory=100Gi,nvidia.com/gpu=8"});
  have("parent", {.parent = "grand", .capability = "cpu=50,memory=50Gi"});
  have("open", {.parent = "grand"});
  const auto child = [&](std::string_view parent, std::string_view capability) {
    return create("child", {.parent = parent, .capability = capability});
  };
  EXPECT_THAT(child("parent", "cpu=60"), HasSubstr("ancestor parent, which has 50"));
  EXPECT_THAT(child("parent", "memory=55Gi"), HasSubstr("ancestor parent, which has 50Gi"));
  EXPECT_THAT(child("parent", "nvidia.com/gpu=10"), HasSubstr("ancestor grand, which has 8"));
  EXPECT_THAT(child("open", "cpu=200"), HasSubstr("ancestor grand, which has 100"));
  EXPECT_EQ(child("parent", "cpu=50,memory=50Gi,nvidia.com/gpu=8"), "");
  EXPECT_EQ(child("parent", ""), "");
  EXPECT_EQ(child("open", "cpu=80"), "");
  EXPECT_EQ(child("parent", "example.com/fpga=1000"), "");  // no ancestor limits it
}

// --- Volcano's TestValidateChildrenConstraintsForCapability.

TEST_F(VolcanoAdmission, InEachBranchTheFirstThatNamesAResourceCounts) {
  have("parent", {.capability = "cpu=30,nvidia.com/gpu=8"});
  have("a", {.parent = "parent", .capability = "nvidia.com/gpu=5"});
  have("b", {.parent = "a", .capability = "cpu=25"});
  EXPECT_THAT(update("parent", {.capability = "cpu=20,nvidia.com/gpu=8"}), HasSubstr("descendant b, which has 25"));
  EXPECT_THAT(update("parent", {.capability = "cpu=30,nvidia.com/gpu=4"}), HasSubstr("descendant a, which has 5"));
  EXPECT_EQ(update("parent", {.capability = "cpu=25,nvidia.com/gpu=5"}), "");
  EXPECT_EQ(update("parent", {}), "");
  EXPECT_EQ(update("b", {.parent = "a", .capability = "cpu=1"}), "");
}

// --- Rules that Volcano's tests above do not cover.

TEST_F(VolcanoAdmission, ParentsAndTheirAncestorsExist) {
  EXPECT_EQ(create("q", {.parent = "nobody"}),
            "spec.parent: Invalid value: \"nobody\": there is no queue nobody: create it first, or name another parent "
            "for queue q");
  have("orphan", {.parent = "nobody"});  // written without an admission check
  EXPECT_THAT(create("q", {.parent = "nobody"}), HasSubstr("there is no queue nobody"));
  EXPECT_THAT(create("q", {.parent = "orphan"}),
              HasSubstr("the way from queue orphan to root ends at queue nobody, which does not exist"));
}

TEST_F(VolcanoAdmission, RootIsAParentWithoutConditions) {
  have("root", {.capability = "cpu=1", .allocated = "pods=7"});
  EXPECT_EQ(create("q", {.parent = "root", .capability = "cpu=100", .deserved = "cpu=50", .guarantee = "cpu=50"}), "");
  EXPECT_EQ(create("q", {.parent = ""}), "");
}

TEST_F(VolcanoAdmission, TheStateOfTheParentDoesNotMatter) {
  have("parent", {.state = QueueState::kClosed});
  EXPECT_EQ(create("q", {.parent = "parent"}), "");
}

TEST_F(VolcanoAdmission, TheDefaultQueueMayBecomeAParentByTheSameRule) {
  have("default");
  EXPECT_EQ(create("q", {.parent = "default"}), "");
  holders["default"] = 1;
  EXPECT_THAT(create("q", {.parent = "default"}), HasSubstr("1 workload holds quota in it"));
}

TEST_F(VolcanoAdmission, TheParentIsLookedAtOnlyWhenItChanges) {
  have("parent", {.allocated = "pods=1"});
  have("q", {.parent = "nobody"});
  have("child", {.parent = "parent"});
  EXPECT_EQ(update("q", {.parent = "nobody", .allocated = "pods=3"}), "");
  EXPECT_THAT(update("q", {.parent = "child", .capability = "cpu=1"}), IsEmpty());
  EXPECT_THAT(update("child", {.parent = "nobody"}), HasSubstr("there is no queue nobody"));
}

TEST_F(VolcanoAdmission, NamingRootInsteadOfNobodyIsNoMove) {
  have("top", {.parent = "", .deserved = "cpu=1"});
  have("child", {.parent = "top", .deserved = "cpu=5"});  // written without an admission check
  EXPECT_EQ(update("top", {.parent = "root", .deserved = "cpu=1"}), "");
  EXPECT_THAT(update("top", {.parent = "root", .deserved = "cpu=2"}), HasSubstr("spec.deserved.cpu"));
}

// A resource that the parent does not name is 0 for guarantee and deserved: Volcano's users have to fill in the
// parent.
TEST_F(VolcanoAdmission, AnUnnamedAmountOfTheParentIsNothing) {
  have("parent", {.deserved = "cpu=4"});
  EXPECT_THAT(create("q", {.parent = "parent", .deserved = "memory=1Gi"}),
              HasSubstr("with it the deserved memory of the children of queue parent is 1Gi, more than its own 0"));
  EXPECT_THAT(create("q", {.parent = "parent", .deserved = "cpu=2", .guarantee = "cpu=2"}),
              HasSubstr("spec.guarantee.resource.cpu"));
  EXPECT_EQ(create("q", {.parent = "parent", .deserved = "cpu=2"}), "");
}

TEST_F(VolcanoAdmission, SiblingsThatExceedTheirParentAlreadyKeepOthersOut) {
  have("parent", {.deserved = "cpu=4"});
  have("a", {.parent = "parent", .deserved = "cpu=5"});
  EXPECT_THAT(create("q", {.parent = "parent"}), HasSubstr("spec.deserved.cpu: Invalid value: \"0\""));
}

TEST_F(VolcanoAdmission, AChangedQueueIsCountedOnceAmongItsSiblings) {
  have("parent", {.deserved = "cpu=10"});
  have("a", {.parent = "parent", .deserved = "cpu=6"});
  have("b", {.parent = "parent", .deserved = "cpu=4"});
  have("c", {.deserved = "cpu=1"});
  EXPECT_EQ(update("a", {.parent = "parent", .deserved = "cpu=5"}), "");
  EXPECT_THAT(update("a", {.parent = "parent", .deserved = "cpu=7"}), HasSubstr("is 11, more than its own 10"));
  EXPECT_THAT(update("c", {.parent = "parent", .deserved = "cpu=1"}), HasSubstr("is 11, more than its own 10"));
}

TEST_F(VolcanoAdmission, RootsAmountsStayUnlessTheFlagSaysOtherwise) {
  have("root", {.capability = "cpu=10"});
  have("q", {.capability = "cpu=50"});
  EXPECT_THAT(update("root", {.capability = "cpu=20"}),
              HasSubstr("spec: Forbidden: capability, deserved and guarantee of the queue root cannot be changed"));
  EXPECT_EQ(update("root", {.capability = "cpu=10", .allocated = "pods=1"}), "");
  options.protect_root = false;
  EXPECT_EQ(update("root", {.capability = "cpu=20"}), "");
}

TEST_F(VolcanoAdmission, RootAndDefaultAreNotDeletedNorWhatDoesNotExist) {
  have("default");
  EXPECT_EQ(remove("default"), "queue default cannot be deleted: it always exists");
  EXPECT_EQ(remove("root"), "queue root cannot be deleted: it always exists");
  EXPECT_EQ(remove("q"), "queue q cannot be deleted: there is none of that name");
  for (const QueueState state : {QueueState::kOpen, QueueState::kClosed, QueueState::kClosing}) {
    have("q", {.state = state});
    EXPECT_EQ(remove("q"), "");
  }
}

TEST_F(VolcanoAdmission, HierarchyAnnotationsDoNotEndOnTheWayOfAnother) {
  Queue other = queue("other");
  other.meta.annotations["volcano.sh/hierarchy"] = "root/a/b";
  forest.set(pointer(other));
  Queue q = queue("q");
  q.meta.annotations["volcano.sh/hierarchy"] = "root/a";
  EXPECT_EQ(to_string(admission().create(q)),
            "metadata.annotations[volcano.sh/hierarchy]: Invalid value: \"root/a\": the hierarchy of queue other goes "
            "through it: end it in a place of its own");
  EXPECT_EQ(to_string(admission().update(other, other)), "");
  for (const char* path : {"root/a/b", "root/a/bc", "root/a/c", "roo"}) {
    q.meta.annotations["volcano.sh/hierarchy"] = path;
    EXPECT_EQ(to_string(admission().create(q)), "") << path;
  }
  forest.remove("other");
  q.meta.annotations["volcano.sh/hierarchy"] = "root/a";
  EXPECT_EQ(to_string(admission().create(q)), "");
}

// --- Rules that are stricter than Volcano's and can be switched off.

TEST_F(VolcanoAdmission, AQueueIsNotMovedBelowItself) {
  have_chain({"a", "b", "c"});
  EXPECT_EQ(update("a", {.parent = "c"}),
            "spec.parent: Invalid value: \"c\": queue c is below queue a, so a cannot be below it: move c out first");
  options.refuse_circles = false;
  options.measure_moved_subtree = false;
  holders.clear();
  EXPECT_EQ(update("a", {.parent = "c"}), "");  // Volcano walks up the parents as they were before the move
}

TEST_F(VolcanoAdmission, BelowACircleThatIsThereAlreadyNothingIsCreated) {
  have("a", {.parent = "b"});
  have("b", {.parent = "a"});
  EXPECT_THAT(create("q", {.parent = "a"}), HasSubstr("the way up from queue a runs in a circle"));
  EXPECT_EQ(update("a", {.parent = ""}), "");  // this removes the cycle
}

TEST_F(VolcanoAdmission, AllThatMovesAlongIsMeasured) {
  have_chain({"a", "b", "c"});
  have_chain({"x", "y", "z"});
  EXPECT_EQ(update("x", {.parent = "c"}),
            "spec.parent: Invalid value: \"c\": queue x would reach down to level 6 below root, the limit is 5: name a "
            "parent closer to root");
  EXPECT_EQ(update("x", {.parent = "b"}), "");
  EXPECT_EQ(update("z", {.parent = "c"}), "");
  options.measure_moved_subtree = false;
  EXPECT_EQ(update("x", {.parent = "c"}), "");
}

TEST_F(VolcanoAdmission, ReservationsCountBeforeTheFirstPodRuns) {
  have("parent");
  holders["parent"] = 2;
  EXPECT_EQ(create("q", {.parent = "parent"}),
            "spec.parent: Invalid value: \"parent\": queue parent cannot become the parent of queue q while 2 "
            "workloads hold quota in it: let them finish, "
            "or name another parent");
  options.count_reservations = false;
  EXPECT_EQ(create("q", {.parent = "parent"}), "");
}

TEST_F(VolcanoAdmission, JobsAndGroupsNeedAnOpenLeaf) {
  have_chain({"parent", "leaf"});
  have("root");
  api::volcano::Job job;
  api::volcano::PodGroup group;
  const auto job_in = [&](std::string_view name) {
    job.queue = name;
    return to_string(admission().create(job));
  };
  const auto group_in = [&](std::string_view name) {
    group.queue = name;
    return to_string(admission().create(group));
  };
  EXPECT_EQ(job_in("leaf"), "");
  EXPECT_EQ(group_in("leaf"), "");
  for (const auto& in :
       {std::function<std::string(std::string_view)>(job_in), std::function<std::string(std::string_view)>(group_in)}) {
    EXPECT_EQ(in("nobody"),
              "spec.queue: Invalid value: \"nobody\": there is no queue nobody: create it first, or name another");
    EXPECT_EQ(in("parent"),
              "spec.queue: Invalid value: \"parent\": queue parent has 1 child queue(s) and takes no work itself: name "
              "one without children, as leaf");
    EXPECT_THAT(in("root"), HasSubstr("the queue root takes no work itself"));
  }
  options.pod_groups_in_leaves_only = false;  // as in Volcano
  EXPECT_EQ(group_in("parent"), "");
  EXPECT_EQ(group_in("root"), "");
  EXPECT_THAT(job_in("parent"), HasSubstr("takes no work itself"));

  for (const QueueState state : {QueueState::kClosed, QueueState::kClosing, QueueState::kUnknown}) {
    have("leaf", {.parent = "parent", .state = state});
    EXPECT_THAT(job_in("leaf"), HasSubstr("queue leaf is " + std::string(name_of(state)) + ": open it first"));
    EXPECT_THAT(group_in("leaf"), HasSubstr("open it first"));
  }
  have("leaf", {.parent = "parent", .state = QueueState::kNone});  // just created
  EXPECT_EQ(job_in("leaf"), "");
}

}  // namespace
}  // namespace berth::volcano::admission_test
