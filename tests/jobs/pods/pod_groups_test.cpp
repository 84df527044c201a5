// The steps in the life of groups of pods, one look at a time.
#include <gtest/gtest.h>

#include "jobs/pods/pods_support.h"

namespace berth::jobs::pod_groups_test {
namespace {

using namespace pods_support;

TEST(PodGroups, AGroupWaitsForAllOfItsPods) {
  EXPECT_EQ(events(group({member("a", 2)})),
            Texts{"ErrWorkloadCompose: 'g' group has fewer runnable pods than expected"});
  const PodPlan plan = group({member("b", 2), member("a", 2)});
  const Json w = all<CreateWorkload>(plan).at(0).object;
  EXPECT_EQ(string_at(w, {"metadata", "name"}), "g");
  EXPECT_EQ(string_at(w, {"metadata", "annotations", "kueue.x-k8s.io/is-group-workload"}), "true");
  EXPECT_EQ(find_path(w, {"metadata", "labels", "kueue.x-k8s.io/job-uid"}), nullptr);
  const JsonArray& owners = array_at(w, {"metadata", "ownerReferences"});
  ASSERT_EQ(owners.size(), 2u);
  EXPECT_EQ(string_at(owners[0], {"name"}), "a") << "by creation and name";
  EXPECT_FALSE(bool_at(owners[0], {"controller"}));
  EXPECT_EQ(plan.speaker->name, "a");
}

TEST(PodGroups, EachRoleIsAPodSet) {
  const PodPlan plan = group({member("a", 3), member("b", 3),
                              member("c", 3, {R"({metadata: {annotations: {kueue.x-k8s.io/role-hash: big}}})"})});
  const Json w = all<CreateWorkload>(plan).at(0).object;
  const JsonArray& pod_sets = array_at(w, {"spec", "podSets"});
  ASSERT_EQ(pod_sets.size(), 2u);
  EXPECT_EQ(string_at(pod_sets[0], {"name"}), "small") << "equal shapes: the least name of a pod decides";
  EXPECT_EQ(int_at(pod_sets[0], {"count"}), 2);
  EXPECT_EQ(string_at(pod_sets[1], {"name"}), "big");
}

constexpr std::string_view kTenCpus =
    R"({spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "10"}}}]}})";

TEST(PodGroups, PodsOfOneRoleRequestTheSame) {
  const PodPlan plan = group({member("a", 2), member("b", 2, {kTenCpus})});
  EXPECT_TRUE(all<CreateWorkload>(plan).empty());
  EXPECT_EQ(
      events(plan),
      Texts{"ErrWorkloadCompose: the pods of group 'g' with the annotation kueue.x-k8s.io/role-hash=small must "
            "request the same: a requests {\"cpu\":\"1\"}, b requests {\"cpu\":\"10\"}; give them different roles, "
            "or leave the annotation out"});
  const auto overhead = member("b", 2, {"{spec: {overhead: {cpu: 1}}}"});
  EXPECT_TRUE(all<CreateWorkload>(group({member("a", 2), overhead})).empty());
  const auto own_role = member("b", 2, {kTenCpus, R"({metadata: {annotations: {kueue.x-k8s.io/role-hash: big}}})"});
  EXPECT_EQ(all<CreateWorkload>(group({member("a", 2), own_role})).size(), 1u);
}

TEST(PodGroups, APodThatRequestsMoreThanItsPodSetStaysAtItsGate) {
  constexpr std::string_view fast = R"({metadata: {annotations: {kueue.x-k8s.io/pod-group-fast-admission: "true"}}})";
  const auto workload = group_workload({member("a", 2, {fast})}, kAdmitted);
  const std::string reported =
      "b ErrWorkloadCompose: this pod requests more than pod set small of workload ns/g has quota for (cpu: 10 instead "
      "of 1): delete it, or create it with the same requests as the others";
  EXPECT_EQ(events(group({member("a", 2, {fast, kRunning}), member("b", 2, {fast, kTenCpus})}, workload)),
            (Texts{"OwnerReferencesAdded: Added 1 owner reference(s)", reported}));
  const auto memory = member("b", 2, {fast, R"({spec: {resources: {requests: {memory: 1Gi}}}})"});
  EXPECT_FALSE(group({member("a", 2, {fast, kRunning}), memory}, workload).actions.at(0).patch)
      << "nor another resource";
  const auto less = member("b", 2, {fast, R"({spec: {containers: [{name: c, image: i}]}})"});
  EXPECT_TRUE(group({member("a", 2, {fast, kRunning}), less}, workload).actions.at(0).patch);
}

TEST(PodGroups, MoreThanEighteenRolesAreTooMany) {
  std::vector<ManagedPodPtr> pods;
  for (int i = 0; i < 19; ++i) {
    const std::string role = "{metadata: {annotations: {kueue.x-k8s.io/role-hash: r" + std::to_string(i) + "}}}";
    pods.push_back(member("p" + std::to_string(i), 19, {role}));
  }
  const PodPlan plan = group(pods);
  EXPECT_TRUE(all<CreateWorkload>(plan).empty());
  EXPECT_EQ(events(plan), Texts{"ErrWorkloadCompose: group 'g' has 19 kinds of pods (annotation "
                                "kueue.x-k8s.io/role-hash), at most 18 are possible"});
}

TEST(PodGroups, PodsThatDisagreeAreReported) {
  EXPECT_EQ(
      events(group({member("a", 2), member("b", 3)})),
      Texts{"ErrWorkloadCompose: the pods of group 'g' must have the same kueue.x-k8s.io/pod-group-total-count: a "
            "has \"2\", b has \"3\""});
  EXPECT_EQ(
      events(group({member("a", 2), member("b", 2, {"{metadata: {labels: {kueue.x-k8s.io/queue-name: q2}}}"})})),
      Texts{"ErrWorkloadCompose: the pods of group 'g' must have the same kueue.x-k8s.io/queue-name: a has \"q\", b "
            "has \"q2\""});
  EXPECT_EQ(events(group({member("a", -1)})),
            Texts{"ErrWorkloadCompose: pod a of group 'g': the annotation kueue.x-k8s.io/pod-group-total-count is "
                  "\"-1\", expected the number of pods in the group"});
}

TEST(PodGroups, APodWithoutAPriorityClassHasThatOfTheOthers) {
  const auto with_class = [](const std::string& name, const std::string& priority) {
    return member(name, 3, {"{metadata: {labels: {kueue.x-k8s.io/priority-class: " + priority + "}}}"});
  };
  const auto made = all<CreateWorkload>(group({member("a", 3), with_class("b", "high"), member("c", 3)}));
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(int_at(made[0].object, {"spec", "priority"}), 100);
  EXPECT_EQ(string_at(made[0].object, {"spec", "priorityClassRef", "name"}), "high");
  EXPECT_EQ(events(group({member("a", 3), with_class("b", "high"), with_class("c", "low")})),
            Texts{"ErrWorkloadCompose: the pods of group 'g' must have the same kueue.x-k8s.io/priority-class: b has "
                  "\"high\", c has \"low\""});
}

TEST(PodGroups, WhatTheWorkloadCopiesMustBeTheSameInAllPods) {
  JobFacts copies = facts();
  copies.label_keys_to_copy = {"project"};
  copies.annotation_keys_to_copy = {"budget"};
  const auto look = [&](std::string_view of_b) {
    return reconcile_group("ns", "g", {member("a", 2), member("b", 2, {of_b})}, copies, kNow);
  };
  const auto made = all<CreateWorkload>(look("{metadata: {labels: {project: x}, annotations: {budget: '7'}}}"));
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(string_at(made[0].object, {"metadata", "labels", "project"}), "x") << "one pod has it";
  EXPECT_EQ(string_at(made[0].object, {"metadata", "annotations", "budget"}), "7");
  const auto both = [&](std::string_view part) {
    const std::string with = "{metadata: {" + std::string(part) + ": ";
    return reconcile_group("ns", "g", {member("a", 2, {with + "x}}}"}), member("b", 2, {with + "y}}}"})}, copies, kNow);
  };
  for (const auto& [part, what] :
       {std::pair("labels: {project", "label project"), std::pair("annotations: {budget", "annotation budget")}) {
    const PodPlan refused = both(part);
    EXPECT_TRUE(all<CreateWorkload>(refused).empty());
    EXPECT_EQ(events(refused).at(0), "ErrWorkloadCompose: the pods of group 'g' have different values of the " +
                                         std::string(what) +
                                         ": 'x' in pod 'a', 'y' in pod 'b'; the workload copies it: give all pods the "
                                         "same value");
  }
}

TEST(PodGroups, TheNewestPodsBeyondTheTotalAreDeleted) {
  const std::vector<ManagedPodPtr> pods = {
      member("a", 2), member("b", 2), member("c", 2, {R"({metadata: {creationTimestamp: "2025-01-01T00:00:00Z"}})"})};
  const PodPlan plan = group(pods);
  EXPECT_EQ(array_at(all<CreateWorkload>(plan).at(0).object, {"metadata", "ownerReferences"}).size(), 2u);
  EXPECT_EQ(events(plan), (Texts{"CreatedWorkload: Created Workload: ns/g", "b ExcessPodDeleted: Excess pod deleted"}));
  EXPECT_TRUE(plan.actions.at(0).remove);
}

TEST(PodGroups, FastAdmissionNeedsTheFirstPodOnly) {
  constexpr std::string_view fast = R"({metadata: {annotations: {kueue.x-k8s.io/pod-group-fast-admission: "true"}}})";
  const auto first = member("a", 3, {fast});
  const auto workload = group_workload({first}, kAdmitted);
  EXPECT_EQ(workload->pod_sets.at(0).count, 3);
  EXPECT_EQ(events(group({first}, workload)), Texts{"a Started: Admitted by clusterQueue cq"});
  const auto other = member("b", 3, {fast, R"({metadata: {annotations: {kueue.x-k8s.io/role-hash: big}}})"});
  const PodPlan plan = group({member("a", 3, {fast, kRunning}), other}, workload);
  ASSERT_EQ(plan.actions.size(), 1u);
  EXPECT_FALSE(plan.actions[0].remove);
  EXPECT_EQ(plan.actions[0].event->reason, "ErrWorkloadCompose") << "its pod is told why it waits";
}

TEST(PodGroups, AllPodsAreLetGoAndNeverMoreThanTheQuotaHas) {
  const std::vector<ManagedPodPtr> waiting = {member("a", 2), member("b", 2)};
  const auto workload = group_workload(waiting, kAdmitted);
  EXPECT_EQ(events(group(waiting, workload)),
            (Texts{"a Started: Admitted by clusterQueue cq", "b Started: Admitted by clusterQueue cq"}));
  // a is being deleted, and its containers still run.
  const PodPlan plan =
      group({member("a", 2, {kRunning, kDeleted}), member("b", 2, {kRunning}), member("c", 2)}, workload);
  for (const auto& action : plan.actions) EXPECT_NE(action.pod->name, "c");
  EXPECT_TRUE(all<ReportJob>(plan).at(0).report.replacement);
}

TEST(PodGroups, AGroupWhoseFlavorIsGoneRunsOnAndItsNewPodsWait) {
  const auto waiting = std::vector{member("a", 2), member("b", 2)};
  const auto workload = group_workload(waiting, kAdmitted);
  JobFacts without = facts(workload);
  without.flavors = [](std::string_view) { return nullptr; };
  const auto look = [&](std::vector<ManagedPodPtr> pods) {
    return reconcile_group("ns", "g", std::move(pods), without, kNow);
  };
  const PodPlan running = look({member("a", 2, {kRunning}), member("b", 2, {kRunning})});
  EXPECT_TRUE(running.actions.empty());
  EXPECT_FALSE(std::ranges::any_of(events(running), [](const auto& text) { return text.starts_with("Failed"); }));
  const PodPlan replaced = look({member("a", 2, {kRunning}), member("b", 2)});
  EXPECT_TRUE(replaced.actions.empty());
  EXPECT_TRUE(std::ranges::any_of(events(replaced), [](const auto& text) {
    return text.starts_with("FailedToStart: ResourceFlavor f does not exist: create it, or ");
  }));
  for (const auto& plan : {running, replaced}) {
    for (const auto& report : all<ReportJob>(plan)) EXPECT_FALSE(report.report.finished);
  }
}

TEST(PodGroups, AFailedPodIsReplacedAndReleased) {
  const auto workload = group_workload({member("a", 2), member("b", 2)}, kAdmitted);
  const auto ok = member("a", 2, {kRunning});
  const auto failed = member("b", 2, {kRunning, "{status: {phase: Failed}}"});
  const PodPlan lost = group({ok, failed}, workload);
  EXPECT_TRUE(lost.actions.empty());
  const auto reported = all<ReportJob>(lost).at(0).report.replacement;
  ASSERT_TRUE(reported && reported->needed);
  EXPECT_EQ(reported->reason, "PodsFailed");
  const PodPlan replaced = group({ok, failed, member("c", 2)}, workload);
  EXPECT_FALSE(all<ReportJob>(replaced).at(0).report.replacement->needed);
  ASSERT_EQ(replaced.actions.size(), 2u);
  EXPECT_EQ(replaced.actions[0].pod->name, "b");
  EXPECT_EQ(replaced.actions[1].pod->name, "c");
  EXPECT_EQ(events(replaced),
            (Texts{"OwnerReferencesAdded: Added 1 owner reference(s)", "c Started: Admitted by clusterQueue cq"}));
}

TEST(PodGroups, PodsThatSucceededGiveTheirQuotaBackAndTheGroupFinishes) {
  const auto workload = group_workload({member("a", 2), member("b", 2)}, kAdmitted);
  const auto done = member("a", 2, {kRunning, "{status: {phase: Succeeded}}"});
  const PodPlan one = group({done, member("b", 2, {kRunning})}, workload);
  const auto reclaimable = all<ReportJob>(one).at(0).report.reclaimable;
  ASSERT_EQ(reclaimable->size(), 1u);
  EXPECT_EQ(reclaimable->front(), (api::kueue::ReclaimablePod{"small", 1}));
  EXPECT_TRUE(all<ReportJob>(one).at(0).report.pods_ready.value());
  const PodPlan both = group({done, member("b", 2, {kRunning, "{status: {phase: Succeeded}}"})}, workload);
  EXPECT_EQ(all<ReportJob>(both).at(0).report.finished,
            (api::kueue::JobReport::Outcome{"Succeeded", "Pods succeeded: 2/2."}));
  EXPECT_TRUE(both.actions.empty()) << "the result is stored first";
}

TEST(PodGroups, AReplacementOfAPodThatSucceededAndIsGoneWaitsForQuota) {
  const auto workload = [](int given_back) {
    auto w = *group_workload({member("a", 3), member("b", 3), member("c", 3)}, kAdmitted);
    w.status.reclaimable_pods = {{"small", given_back}};
    return std::make_shared<const Workload>(std::move(w));
  };
  const auto done = member("a", 3, {kRunning, "{status: {phase: Succeeded}}"});
  const auto runs = member("c", 3, {kRunning});
  const auto let_go = [](const PodPlan& plan) { return !plan.actions.empty(); };
  const auto reported = [](const PodPlan& plan) {
    return all<ReportJob>(plan).at(0).report.reclaimable->front().count;
  };
  const PodPlan waits = group({done, runs, member("d", 3)}, workload(2));
  EXPECT_FALSE(let_go(waits)) << "the second one that succeeded is gone, and its quota was given back";
  EXPECT_EQ(reported(waits), 2);
  EXPECT_TRUE(let_go(group({done, runs, member("d", 3)}, workload(1)))) << "a pod that failed is replaced";
  const PodPlan alone = group({done, member("d", 3)}, workload(2));
  EXPECT_TRUE(let_go(alone)) << "in the place of a pod that failed";
  EXPECT_EQ(reported(alone), 2);
  const PodPlan more = group({done, member("d", 3), member("e", 3)}, workload(2));
  EXPECT_EQ(reported(more), 1) << "nothing runs: the group is queued again";
}

TEST(PodGroups, AGroupThatIsNotRetriedFails) {
  constexpr std::string_view never = R"({metadata: {annotations: {kueue.x-k8s.io/retriable-in-group: "false"}}})";
  const auto workload = group_workload({member("a", 2), member("b", 2)}, kAdmitted);
  const auto failed = member("a", 2, {kRunning, never, "{status: {phase: Failed}}"});
  EXPECT_FALSE(all<ReportJob>(group({failed, member("b", 2, {kRunning})}, workload)).at(0).report.finished);
  EXPECT_EQ(all<ReportJob>(group({failed, member("b", 2, {kRunning, "{status: {phase: Succeeded}}"})}, workload))
                .at(0)
                .report.finished,
            (api::kueue::JobReport::Outcome{"Failed", "Pods succeeded: 1/2."}));
}

TEST(PodGroups, AServingGroupReplacesPodsThatSucceeded) {
  constexpr std::string_view serving = R"({metadata: {annotations: {kueue.x-k8s.io/pod-group-serving: "true"}}})";
  const auto workload = group_workload({member("a", 1, {serving})}, kAdmitted);
  const auto done = member("a", 1, {serving, kRunning, "{status: {phase: Succeeded}}"});
  const PodPlan alone = group({done}, workload);
  EXPECT_FALSE(all<ReportJob>(alone).at(0).report.finished);
  EXPECT_FALSE(all<ReportJob>(alone).at(0).report.replacement->needed);
  const PodPlan replaced = group({done, member("b", 1, {serving})}, workload);
  ASSERT_EQ(replaced.actions.size(), 2u);
  EXPECT_EQ(replaced.actions[0].pod->name, "a") << "released";
  EXPECT_EQ(replaced.actions[1].event->reason, "Started");
}

// The controller of the pods makes others of the same names when these are gone.
TEST(PodGroups, AServingGroupThatRunsAgainReleasesThePodsThatWereStopped) {
  constexpr std::string_view serving = R"({metadata: {annotations: {kueue.x-k8s.io/pod-group-serving: "true"}}})";
  constexpr std::string_view failed = "{status: {phase: Failed}}";
  const std::string kStopped = true_condition("Evicted", "Deactivated");
  const auto workload = [&](bool active, const std::string& conditions) {
    auto w = *group_workload({member("a", 2, {serving}), member("b", 2, {serving})}, conditions);
    w.active = active;
    return std::make_shared<const Workload>(std::move(w));
  };
  const auto released = [](const PodPlan& plan) {
    std::string names;
    for (const auto& action : plan.actions) {
      if (action.patch && find_path(action.patch->body, {"metadata", "finalizers"}) != nullptr)
        names += action.pod->name;
    }
    return names;
  };
  const auto a = member("a", 2, {serving, kRunning, failed, kDeleted});
  const auto b = member("b", 2, {serving, kRunning, failed, kDeleted});
  EXPECT_EQ(released(group({a, b}, workload(false, kStopped))), "") << "deactivated: nobody replaces them";
  EXPECT_EQ(released(group({a, b}, workload(true, kStopped))), "a") << "the workload is kept by the last pod";
  EXPECT_EQ(released(group({b, member("c", 2, {serving})}, workload(true, kStopped))), "b");
  EXPECT_EQ(released(group({b}, workload(true, kStopped))), "b") << "a group of one";
  const auto ends = member("b", 2, {serving, kRunning, kDeleted});
  EXPECT_EQ(released(group({a, ends}, workload(true, kEvicted))), "a") << "while others still end";
  EXPECT_EQ(released(group({member("a", 2, {kRunning, failed, kDeleted}), member("c", 2, {kRunning})},
                           group_workload({member("a", 2), member("c", 2)}, kAdmitted))),
            "")
      << "of other groups, a pod that failed stands for its place";
}

TEST(PodGroups, AnEvictedGroupStopsAndWaitsForNewPods) {
  const auto workload = group_workload({member("a", 2), member("b", 2)}, kEvicted);
  const PodPlan stopping = group({member("a", 2, {kRunning}), member("b", 2, {kRunning})}, workload);
  EXPECT_EQ(events(stopping), (Texts{"a Stopped: because", "b Stopped: because"}));
  EXPECT_FALSE(all<ReportJob>(stopping).at(0).report.stopped);
  const PodPlan ending = group({member("a", 2, {kRunning, kDeleted})}, workload);
  EXPECT_FALSE(all<ReportJob>(ending).at(0).report.stopped) << "its containers may still run";
  EXPECT_EQ(ending.look_again, parse_time("2026-01-01T00:59:00Z").value() + kReplacementWait);
  constexpr std::string_view unbound = "{spec: {schedulingGates: null}}";
  const PodPlan stopped = group({member("a", 2, {unbound, kDeleted})}, workload);
  EXPECT_TRUE(all<ReportJob>(stopped).at(0).report.stopped);
  EXPECT_EQ(all<ReportJob>(stopped).at(0).report.replacement->reason, "Preempted");
  EXPECT_TRUE(stopped.actions.empty());
}

TEST(PodGroups, ADeletedPodThatNobodyReplacesIsReleasedAfterAWhile) {
  const auto workload = group_workload({member("a", 2), member("b", 2)}, kAdmitted);
  const std::vector<ManagedPodPtr> pods = {member("a", 2, {kRunning}), member("b", 2, {kRunning, kDeleted})};
  EXPECT_TRUE(group(pods, workload).actions.empty());
  const PodPlan later = reconcile_group("ns", "g", pods, facts(workload), kNow + kReplacementWait);
  ASSERT_EQ(later.actions.size(), 1u);
  EXPECT_EQ(later.actions[0].pod->name, "b");
  // So is one that succeeded, when the group does not finish.
  const auto done = member("b", 2, {kRunning, kDeleted, "{status: {phase: Succeeded}}"});
  EXPECT_TRUE(group({pods[0], done}, workload).actions.empty());
  EXPECT_EQ(reconcile_group("ns", "g", {pods[0], done}, facts(workload), kNow + kReplacementWait).actions.size(), 1u);
}

TEST(PodGroups, AGroupWhosePodsAreAllDeletedIsLetGo) {
  constexpr std::string_view unbound = "{spec: {schedulingGates: null}}";
  const auto workload = group_workload({member("a", 2), member("b", 2)}, kAdmitted);
  EXPECT_EQ(group({member("a", 2, {unbound, kDeleted}), member("b", 2, {unbound, kDeleted})}, workload).actions.size(),
            2u);
  constexpr std::string_view released = "{metadata: {finalizers: null}}";
  const PodPlan running = group({member("a", 2, {kRunning, kDeleted, released})}, workload);
  EXPECT_TRUE(running.steps.empty()) << "its quota is used until its containers end";
  const PodPlan ended = group({member("a", 2, {unbound, kDeleted, released})}, workload);
  EXPECT_EQ(all<ReportJob>(ended).at(0).report.finished->reason, "OwnerNotFound");
  const PodPlan none = group({}, workload);
  EXPECT_EQ(all<ReportJob>(none).at(0).report.finished->reason, "OwnerNotFound");
}

TEST(PodGroups, AWorkloadOfSomebodyElseWithTheNameOfTheGroupIsReported) {
  Workload other = *group_workload({member("a", 1)}, "");
  other.meta.annotations.clear();
  const PodPlan plan = group({member("a", 1)}, std::make_shared<const Workload>(other));
  EXPECT_TRUE(plan.actions.empty());
  EXPECT_EQ(events(plan), Texts{"WorkloadNameConflict: Workload ns/g has the name of this pod group and belongs to "
                                "somebody else: delete it, or give the group another name"});
}

TEST(PodGroups, AfterTheEndLatePodsAreExcessAndANewGroupOfTheNameStartsAnew) {
  const auto workload = group_workload({member("a", 1)}, kAdmitted + ", " + true_condition("Finished", "Succeeded"));
  const auto done = member("a", 1, {kRunning, "{status: {phase: Succeeded}}"});
  EXPECT_EQ(
      events(group({done, member("b", 1)}, workload)),
      (Texts{"FinishedWorkload: Workload 'ns/g' is declared finished", "b ExcessPodDeleted: Excess pod deleted"}));
  EXPECT_EQ(all<DeleteWorkload>(group({member("b", 1)}, workload)).size(), 1u);
}

TEST(PodGroups, AWaitingGroupWithOtherRolesGetsThemIntoItsWorkload) {
  const auto workload = group_workload({member("a", 2), member("b", 2)}, "");
  const auto big = member("c", 2, {R"({metadata: {annotations: {kueue.x-k8s.io/role-hash: big}}})"});
  const PodPlan plan = group({member("a", 2), big}, workload);
  const auto updates = all<UpdateWorkload>(plan);
  ASSERT_EQ(updates.size(), 1u);
  EXPECT_EQ(array_at(updates[0].patch, {"spec", "podSets"}).size(), 2u);
}

TEST(PodGroups, FourThousandPodsThatClaimAGroupOfThreeLeaveThree) {
  std::vector<ManagedPodPtr> pods;
  for (int i = 0; i < 4000; ++i) pods.push_back(member("p" + std::to_string(10000 + i), 3));
  const PodPlan plan = group(pods);
  EXPECT_EQ(plan.actions.size(), 3997u);
  EXPECT_EQ(all<CreateWorkload>(plan).size(), 1u);
}

}  // namespace
}  // namespace berth::jobs::pod_groups_test
