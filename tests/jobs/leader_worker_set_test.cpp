// The workloads of LeaderWorkerSets, one look at a time.
#include "jobs/serving/leader_worker_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/kueue/types.h"
#include "base/merge_patch.h"
#include "base/yaml.h"

namespace berth::jobs::leader_worker_set_test {
namespace {

using api::kueue::Workload;

Json yaml(std::string_view text) { return parse_yaml(text).value().front(); }

Json a_set(std::string_view changes = "{}") {
  return apply_merge_patch(yaml(R"(
metadata: {name: a, namespace: ns, uid: u, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 3
    leaderTemplate: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}}
    workerTemplate: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}}
)"),
                           yaml(changes));
}

JobFacts facts() {
  JobFacts out;
  out.workload = [](auto, auto) { return nullptr; };
  out.workload_priority_class = [](auto) { return std::nullopt; };
  out.priority_class = [](auto) { return std::nullopt; };
  out.global_default_priority_class = [] { return std::nullopt; };
  return out;
}

template <typename T>
std::vector<T> steps(const ServingPlan& plan) {
  std::vector<T> out;
  for (const Step& step : plan.steps) {
    if (const auto* one = std::get_if<T>(&step)) out.push_back(*one);
  }
  return out;
}

// The workloads that the first look at a set creates.
std::vector<WorkloadPtr> workloads_of(const Json& set, bool reserved = false) {
  std::vector<WorkloadPtr> out;
  for (const auto& step : steps<CreateWorkload>(plan_leader_worker_set(set, {}, {}, facts()))) {
    auto workload = api::kueue::decode_workload(step.object).value();
    workload.meta.uid = workload.meta.name;
    if (reserved) {
      api::Condition condition;
      condition.type = api::kueue::kQuotaReserved;
      condition.status = true;
      workload.status.conditions.push_back(condition);
    }
    out.push_back(std::make_shared<const Workload>(std::move(workload)));
  }
  return out;
}

Json waiting_pod(int group, int worker) {
  Json out = yaml(R"(
metadata:
  namespace: ns
  resourceVersion: "7"
  labels: {leaderworkerset.sigs.k8s.io/name: a}
  annotations: {kueue.x-k8s.io/pod-suspending-parent: leaderworkerset.x-k8s.io/leaderworkerset}
  ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: a, uid: s, controller: true}]
spec: {schedulingGates: [{name: kueue.x-k8s.io/admission}]}
)");
  const std::string name = "a-" + std::to_string(group) + "-" + std::to_string(worker);
  ensure_path(out, {"metadata", "name"}) = name;
  ensure_path(out, {"metadata", "uid"}) = name;
  ensure_path(out, {"metadata", "labels", "leaderworkerset.sigs.k8s.io/group-index"}) = std::to_string(group);
  ensure_path(out, {"metadata", "labels", "leaderworkerset.sigs.k8s.io/worker-index"}) = std::to_string(worker);
  return out;
}

TEST(LeaderWorkerSetPlan, EachGroupHasAWorkloadBeforeItHasPods) {
  const auto all = workloads_of(a_set());
  ASSERT_EQ(all.size(), 2u);
  const Workload& w = *all[1];
  EXPECT_TRUE(w.meta.name.starts_with("leaderworkerset-a-1-")) << w.meta.name;
  EXPECT_EQ(w.queue_name, "q");
  EXPECT_EQ(w.meta.labels.at("kueue.x-k8s.io/job-uid"), "u");
  EXPECT_EQ(w.meta.annotations.at("kueue.x-k8s.io/is-group-workload"), "true");
  EXPECT_EQ(w.meta.annotations.at("kueue.x-k8s.io/job-owner-gvk"), "leaderworkerset.x-k8s.io/v1, Kind=LeaderWorkerSet");
  EXPECT_EQ(w.meta.annotations.at("kueue.x-k8s.io/job-owner-name"), "a");
  EXPECT_EQ(w.meta.annotations.at("kueue.x-k8s.io/component-workload-index"), "1");
  ASSERT_EQ(w.meta.owners.size(), 1u);
  EXPECT_EQ(w.meta.owners[0].uid, "u");
  EXPECT_FALSE(w.meta.owners[0].controller);
  ASSERT_EQ(w.pod_sets.size(), 2u);
  EXPECT_EQ(w.pod_sets[0].name, "leader");
  EXPECT_EQ(w.pod_sets[0].count, 1);
  EXPECT_FALSE(w.pod_sets[0].topology_request);
  EXPECT_EQ(w.pod_sets[1].name, "worker");
  EXPECT_EQ(w.pod_sets[1].count, 2);
  EXPECT_EQ(w.pod_sets[1].topology_request->pod_index_label, "leaderworkerset.sigs.k8s.io/worker-index");
  EXPECT_TRUE(plan_leader_worker_set(a_set(), all, {}, facts()).steps.empty());
}

TEST(LeaderWorkerSetPlan, PodSetsFollowTheTemplates) {
  const auto main = workloads_of(a_set("{spec: {leaderWorkerTemplate: {leaderTemplate: null}}}"));
  ASSERT_EQ(main[0]->pod_sets.size(), 1u);
  EXPECT_EQ(main[0]->pod_sets[0].name, "main");
  EXPECT_EQ(main[0]->pod_sets[0].count, 3);
  const auto alone = workloads_of(a_set("{spec: {leaderWorkerTemplate: {size: 1}}}"));
  ASSERT_EQ(alone[0]->pod_sets.size(), 1u);
  EXPECT_EQ(alone[0]->pod_sets[0].name, "leader");
  const std::string together =
      "{metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack, kueue.x-k8s.io/podset-group-name: g}}}";
  const auto grouped = workloads_of(
      a_set("{spec: {leaderWorkerTemplate: {leaderTemplate: " + together + ", workerTemplate: " + together + "}}}"));
  for (const auto& pod_set : grouped[0]->pod_sets) {
    EXPECT_EQ(pod_set.topology_request->required, "rack");
    EXPECT_EQ(pod_set.topology_request->pod_set_group_name, "g");
  }
}

TEST(LeaderWorkerSetPlan, WorkloadsOfGroupsThatTheSetDoesNotHaveAreDeleted) {
  const auto all = workloads_of(a_set());
  const auto deleted = steps<DeleteWorkload>(plan_leader_worker_set(a_set("{spec: {replicas: 1}}"), all, {}, facts()));
  ASSERT_EQ(deleted.size(), 1u);
  EXPECT_EQ(deleted[0].workload, all[1]);
  EXPECT_EQ(steps<DeleteWorkload>(plan_leader_worker_set(a_set("{spec: {replicas: 0}}"), all, {}, facts())).size(), 2u);
}

TEST(LeaderWorkerSetPlan, GroupsOfASurgeHaveWorkloadsDuringTheUpdate) {
  const std::string surge = "spec: {rolloutStrategy: {rollingUpdateConfiguration: {maxSurge: 50%}}}";
  const auto wanted = [&](std::string_view status) {
    return workloads_of(a_set("{" + surge + ", status: " + std::string(status) + "}")).size();
  };
  const std::string updating = "conditions: [{type: UpdateInProgress, status: 'True'}]";
  EXPECT_EQ(wanted("{replicas: 3, " + updating + "}"), 3u);
  EXPECT_EQ(wanted("{replicas: 9, " + updating + "}"), 3u) << "no more than the surge";
  EXPECT_EQ(wanted("{replicas: 1, " + updating + "}"), 2u) << "no fewer than the replicas";
  EXPECT_EQ(wanted("{replicas: 3}"), 2u) << "they shrink";
}

TEST(LeaderWorkerSetPlan, AChangedTemplateReachesWorkloadsThatWaitOnly) {
  const Json changed = a_set(
      "{spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: c, image: j, resources: {requests: "
      "{cpu: '1'}}}]}}}}}");
  EXPECT_EQ(steps<UpdateWorkload>(plan_leader_worker_set(changed, workloads_of(a_set()), {}, facts())).size(), 2u);
  EXPECT_TRUE(plan_leader_worker_set(changed, workloads_of(a_set(), true), {}, facts()).steps.empty());
  const Json larger = a_set("{spec: {leaderWorkerTemplate: {size: 4}}}");
  EXPECT_EQ(steps<UpdateWorkload>(plan_leader_worker_set(larger, workloads_of(a_set()), {}, facts())).size(), 2u);
  EXPECT_EQ(steps<DeleteWorkload>(plan_leader_worker_set(larger, workloads_of(a_set(), true), {}, facts())).size(), 2u)
      << "the quota is that of smaller groups";
}

TEST(LeaderWorkerSetPlan, TheQueueChangesWhileAWorkloadWaits) {
  const Json moved = a_set("{metadata: {labels: {kueue.x-k8s.io/queue-name: q2}}}");
  const auto updates = steps<UpdateWorkload>(plan_leader_worker_set(moved, workloads_of(a_set()), {}, facts()));
  ASSERT_EQ(updates.size(), 2u);
  EXPECT_EQ(string_at(updates[0].patch, {"spec", "queueName"}), "q2");
  EXPECT_TRUE(plan_leader_worker_set(moved, workloads_of(a_set(), true), {}, facts()).steps.empty());
}

TEST(LeaderWorkerSetPlan, PodsLearnTheirGroupAndTheirRole) {
  std::vector<UngroupedPod> pods;
  for (const auto& [group, worker] : {std::pair(0, 0), std::pair(1, 2), std::pair(2, 0)}) {
    pods.push_back(decode_ungrouped_pod(waiting_pod(group, worker), true).value());
  }
  const auto plan = plan_leader_worker_set(a_set(), workloads_of(a_set()), pods, facts());
  ASSERT_EQ(plan.groupings.size(), 2u) << "the set has no third group";
  const auto annotation = [&](std::size_t i, std::string_view key) {
    return string_at(plan.groupings[i].patch, {"metadata", "annotations", key});
  };
  EXPECT_TRUE(annotation(0, "kueue.x-k8s.io/pod-group-name").starts_with("leaderworkerset-a-0-"));
  EXPECT_EQ(annotation(0, "kueue.x-k8s.io/prebuilt-workload-name"), annotation(0, "kueue.x-k8s.io/pod-group-name"));
  EXPECT_EQ(annotation(0, "kueue.x-k8s.io/pod-group-total-count"), "3");
  EXPECT_EQ(annotation(0, "kueue.x-k8s.io/role-hash"), "leader");
  EXPECT_EQ(annotation(1, "kueue.x-k8s.io/role-hash"), "worker");
  const Json main = a_set("{spec: {leaderWorkerTemplate: {leaderTemplate: null}}}");
  EXPECT_EQ(string_at(plan_leader_worker_set(main, {}, pods, facts()).groupings[0].patch,
                      {"metadata", "annotations", "kueue.x-k8s.io/role-hash"}),
            "main");
}

TEST(LeaderWorkerSetPlan, OnlyPodsThatWaitForTheirGroupAreUngrouped) {
  const auto waits = [](std::string_view changes) {
    return decode_ungrouped_pod(apply_merge_patch(waiting_pod(0, 0), yaml(changes)), true).has_value();
  };
  EXPECT_TRUE(waits("{}"));
  EXPECT_FALSE(waits("{metadata: {annotations: {kueue.x-k8s.io/pod-group-name: g}}}"));
  EXPECT_FALSE(waits("{metadata: {annotations: {kueue.x-k8s.io/pod-suspending-parent: null}}}"));
  EXPECT_FALSE(waits("{metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}}"));
  EXPECT_FALSE(waits("{spec: {schedulingGates: null}}"));
  EXPECT_FALSE(waits("{metadata: {labels: {leaderworkerset.sigs.k8s.io/group-index: '-1'}}}"));
  EXPECT_FALSE(waits("{metadata: {labels: {leaderworkerset.sigs.k8s.io/group-index: 1x}}}"));
}

TEST(LeaderWorkerSetPlan, NothingIsDoneForSetsThatLeaveOrAreNotManaged) {
  EXPECT_TRUE(plan_leader_worker_set(a_set("{metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}}"), {}, {}, facts())
                  .steps.empty());
  JobFacts unmanaged = facts();
  unmanaged.managed = false;
  EXPECT_TRUE(plan_leader_worker_set(a_set(), {}, {}, unmanaged).steps.empty());
}

TEST(LeaderWorkerSetPlan, ANameThatIsTakenIsTold) {
  JobFacts taken = facts();
  taken.workload = [](auto, auto) { return std::make_shared<const Workload>(); };
  const auto plan = plan_leader_worker_set(a_set("{spec: {replicas: 1}}"), {}, {}, taken);
  EXPECT_TRUE(steps<CreateWorkload>(plan).empty());
  ASSERT_EQ(steps<JobEvent>(plan).size(), 1u);
  EXPECT_TRUE(steps<JobEvent>(plan)[0].warning);
}

TEST(LeaderWorkerSetPlan, ManyGroupsTakeSeveralLooks) {
  const Json large = a_set("{spec: {replicas: 250}}");
  const auto first = plan_leader_worker_set(large, {}, {}, facts());
  EXPECT_EQ(steps<CreateWorkload>(first).size(), kMaxNewWorkloads);
  EXPECT_TRUE(first.more);
}

}  // namespace
}  // namespace berth::jobs::leader_worker_set_test
