// The groups of a LeaderWorkerSet, their workloads and pods, one look at a time.
#include "jobs/pods/leader_worker_set.h"

#include <gtest/gtest.h>

#include "base/merge_patch.h"
#include "base/yaml.h"
#include "jobs/pods/pod_group.h"

namespace berth::jobs::leader_worker_set_test {
namespace {

using api::kueue::Workload;

Json yaml(std::string_view text) { return parse_yaml(text).value().front(); }
const Time kNow = parse_time("2026-01-01T01:00:00Z").value();

JsonPtr a_set(std::string_view changes = "{}") {
  static const Json base = yaml(R"(
metadata: {name: a, namespace: ns, uid: u, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 3
    leaderTemplate: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}}
    workerTemplate: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}}
)");
  return std::make_shared<const Json>(apply_merge_patch(base, yaml(changes)));
}

JobFacts facts(const ServedGroupState& group, const WorkloadPtr& stored) {
  JobFacts out;
  out.flavors = [](auto) { return nullptr; };
  out.workload = [stored](auto, auto) { return stored; };
  out.workload_priority_class = [](auto) { return std::nullopt; };
  out.priority_class = [](auto) { return std::nullopt; };
  out.global_default_priority_class = [] { return std::nullopt; };
  out.served_group = [group](auto, auto) { return std::make_shared<ServedGroupState>(group); };
  return out;
}
PodPlan look(const ServedGroupState& group, const std::vector<ManagedPodPtr>& pods, const WorkloadPtr& stored) {
  return reconcile_group("ns", group.name, pods, facts(group, stored), kNow);
}

template <typename T>
std::vector<T> all(const PodPlan& plan) {
  std::vector<T> out;
  for (const Step& step : plan.steps) {
    if (const auto* one = std::get_if<T>(&step)) out.push_back(*one);
  }
  return out;
}

// The workload that the first look at a group creates, with these conditions.
WorkloadPtr workload_of(const JsonPtr& set, std::int64_t index = 0, std::string_view conditions = "") {
  const auto created = all<CreateWorkload>(look(served_by_leader_worker_set(set, index), {}, nullptr));
  EXPECT_EQ(created.size(), 1u);
  Json object = created.at(0).object;
  ensure_path(object, {"metadata", "uid"}) = "w";
  object.as_object()["status"] = yaml("{conditions: [" + std::string(conditions) + "]}");
  return std::make_shared<const Workload>(api::kueue::decode_workload(object).value());
}
constexpr std::string_view kReserved =
    R"({type: QuotaReserved, status: "True", reason: QuotaReserved, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"})";

Json waiting_pod(int group, int worker, std::string_view changes = "{}") {
  Json out = yaml(R"(
metadata:
  namespace: ns
  resourceVersion: "7"
  labels: {leaderworkerset.sigs.k8s.io/name: a, kueue.x-k8s.io/queue-name: q}
  annotations: {kueue.x-k8s.io/pod-suspending-parent: leaderworkerset.x-k8s.io/leaderworkerset}
  ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: a, uid: s, controller: true}]
spec: {schedulingGates: [{name: kueue.x-k8s.io/admission}]}
)");
  const std::string name = "a-" + std::to_string(group) + "-" + std::to_string(worker);
  ensure_path(out, {"metadata", "name"}) = name;
  ensure_path(out, {"metadata", "uid"}) = name;
  ensure_path(out, {"metadata", "labels", "leaderworkerset.sigs.k8s.io/group-index"}) = std::to_string(group);
  ensure_path(out, {"metadata", "labels", "leaderworkerset.sigs.k8s.io/worker-index"}) = std::to_string(worker);
  return apply_merge_patch(out, yaml(changes));
}
ManagedPodPtr managed(const Json& pod) {
  return decode_managed_pod(pod, true, [](const Json&) { return std::string("group"); });
}

TEST(LeaderWorkerSetGroups, EachHasAWorkloadBeforeItHasPods) {
  const WorkloadPtr w = workload_of(a_set(), 1);
  EXPECT_TRUE(w->meta.name.starts_with("leaderworkerset-a-1-")) << w->meta.name;
  EXPECT_EQ(w->queue_name, "q");
  EXPECT_EQ(w->meta.labels.at("kueue.x-k8s.io/job-uid"), "u");
  const decltype(api::ObjectMeta::annotations) annotations{
      {"kueue.x-k8s.io/component-workload-index", "1"},
      {"kueue.x-k8s.io/is-group-workload", "true"},
      {"kueue.x-k8s.io/job-owner-gvk", "leaderworkerset.x-k8s.io/v1, Kind=LeaderWorkerSet"},
      {"kueue.x-k8s.io/job-owner-name", "a"}};
  EXPECT_EQ(w->meta.annotations, annotations);
  ASSERT_EQ(w->meta.owners.size(), 1u);
  EXPECT_EQ(w->meta.owners[0].uid, "u");
  EXPECT_FALSE(w->meta.owners[0].controller);
  EXPECT_EQ(owning_leader_worker_set(*w)->name, "a");
  ASSERT_EQ(w->pod_sets.size(), 2u);
  EXPECT_EQ(w->pod_sets[0].name, "leader");
  EXPECT_EQ(w->pod_sets[0].count, 1);
  EXPECT_FALSE(w->pod_sets[0].topology_request);
  EXPECT_EQ(w->pod_sets[1].name, "worker");
  EXPECT_EQ(w->pod_sets[1].count, 2);
  EXPECT_EQ(w->pod_sets[1].topology_request->pod_index_label, "leaderworkerset.sigs.k8s.io/worker-index");
  EXPECT_TRUE(all<CreateWorkload>(look(served_by_leader_worker_set(a_set(), 1), {}, w)).empty());
}

TEST(LeaderWorkerSetGroups, WithoutPodsTheyDoNotSayThatTheyWaitForAStart) {
  const auto group = served_by_leader_worker_set(a_set(), 0);
  const auto reports = all<ReportJob>(look(group, {}, workload_of(a_set(), 0, kReserved)));
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_FALSE(reports[0].report.pods_ready);
  EXPECT_TRUE(reports[0].report.stopped) << "an eviction may give its quota back";
}

TEST(LeaderWorkerSetGroups, PodSetsFollowTheTemplates) {
  const WorkloadPtr main = workload_of(a_set("{spec: {leaderWorkerTemplate: {leaderTemplate: null}}}"));
  ASSERT_EQ(main->pod_sets.size(), 1u);
  EXPECT_EQ(main->pod_sets[0].name, "main");
  EXPECT_EQ(main->pod_sets[0].count, 3);
  const WorkloadPtr alone = workload_of(a_set("{spec: {leaderWorkerTemplate: {size: 1}}}"));
  ASSERT_EQ(alone->pod_sets.size(), 1u);
  EXPECT_EQ(alone->pod_sets[0].name, "leader");
  const std::string together =
      "{metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack, kueue.x-k8s.io/podset-group-name: g}}}";
  const WorkloadPtr grouped = workload_of(
      a_set("{spec: {leaderWorkerTemplate: {leaderTemplate: " + together + ", workerTemplate: " + together + "}}}"));
  for (const auto& pod_set : grouped->pod_sets) {
    EXPECT_EQ(pod_set.topology_request->required, "rack");
    EXPECT_EQ(pod_set.topology_request->pod_set_group_name, "g");
  }
}

TEST(LeaderWorkerSetGroups, TheWorkloadOfASurplusGroupIsDeleted) {
  const WorkloadPtr stored = workload_of(a_set(), 1);
  const auto surplus = surplus_of_leader_worker_set(a_set("{spec: {replicas: 1}}"), stored->meta.name);
  const auto deleted = all<DeleteWorkload>(look(surplus, {}, stored));
  ASSERT_EQ(deleted.size(), 1u);
  EXPECT_EQ(deleted[0].workload, stored);
  auto unmanaged = surplus;
  unmanaged.managed = false;
  JobFacts of_unmanaged = facts(unmanaged, stored);
  of_unmanaged.managed = false;
  EXPECT_TRUE(reconcile_group("ns", surplus.name, {}, of_unmanaged, kNow).steps.empty());
}

TEST(LeaderWorkerSetGroups, ASurgeCountsDuringTheUpdate) {
  const std::string surge = "spec: {rolloutStrategy: {rollingUpdateConfiguration: {maxSurge: 50%}}}";
  const auto wanted = [&](std::string_view status) {
    return groups_of_leader_worker_set(*a_set("{" + surge + ", status: " + std::string(status) + "}"));
  };
  const std::string updating = "conditions: [{type: UpdateInProgress, status: 'True'}]";
  EXPECT_EQ(wanted("{replicas: 3, " + updating + "}"), 3);
  EXPECT_EQ(wanted("{replicas: 9, " + updating + "}"), 3) << "no more than the surge";
  EXPECT_EQ(wanted("{replicas: 1, " + updating + "}"), 2) << "no fewer than the replicas";
  EXPECT_EQ(wanted("{replicas: 3}"), 2) << "they shrink";
  EXPECT_EQ(groups_of_leader_worker_set(*a_set("{spec: {replicas: 0}}")), 0);
}

TEST(LeaderWorkerSetGroups, AChangedTemplateReachesWorkloadsThatWaitOnly) {
  const auto changed = served_by_leader_worker_set(
      a_set("{spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: c, image: j, resources: "
            "{requests: {cpu: '1'}}}]}}}}}"),
      0);
  EXPECT_EQ(all<UpdateWorkload>(look(changed, {}, workload_of(a_set()))).size(), 1u);
  EXPECT_TRUE(all<UpdateWorkload>(look(changed, {}, workload_of(a_set(), 0, kReserved))).empty());
  const auto larger = served_by_leader_worker_set(a_set("{spec: {leaderWorkerTemplate: {size: 4}}}"), 0);
  EXPECT_EQ(all<UpdateWorkload>(look(larger, {}, workload_of(a_set()))).size(), 1u);
  const auto refused = look(larger, {}, workload_of(a_set(), 0, kReserved));
  EXPECT_TRUE(all<UpdateWorkload>(refused).empty()) << "the quota is that of a smaller group";
  ASSERT_EQ(all<JobEvent>(refused).size(), 1u);
  EXPECT_TRUE(all<JobEvent>(refused)[0].warning);
}

TEST(LeaderWorkerSetGroups, TheQueueChangesWhileAWorkloadWaits) {
  const auto moved = served_by_leader_worker_set(a_set("{metadata: {labels: {kueue.x-k8s.io/queue-name: q2}}}"), 0);
  const auto updates = all<UpdateWorkload>(look(moved, {}, workload_of(a_set())));
  ASSERT_EQ(updates.size(), 1u);
  EXPECT_EQ(string_at(updates[0].patch, {"spec", "queueName"}), "q2");
  EXPECT_TRUE(all<UpdateWorkload>(look(moved, {}, workload_of(a_set(), 0, kReserved))).empty());
}

TEST(LeaderWorkerSetGroups, PodsLearnTheirGroupAndTheirRole) {
  const auto group = served_by_leader_worker_set(a_set(), 1);
  const auto annotations = [](const ServedGroupState& of, int worker) {
    const auto plan = look(of, {managed(waiting_pod(1, worker))}, nullptr);
    EXPECT_EQ(plan.actions.size(), 1u);
    return plan.actions.at(0).patch->body.at("metadata").at("annotations");
  };
  const Json leader = annotations(group, 0);
  EXPECT_EQ(string_at(leader, {"kueue.x-k8s.io/pod-group-name"}), group.name);
  EXPECT_EQ(string_at(leader, {"kueue.x-k8s.io/prebuilt-workload-name"}), group.name);
  EXPECT_EQ(string_at(leader, {"kueue.x-k8s.io/pod-group-total-count"}), "3");
  EXPECT_EQ(string_at(leader, {"kueue.x-k8s.io/role-hash"}), "leader");
  EXPECT_EQ(find(leader, "kueue.x-k8s.io/pod-group-fast-admission"), nullptr);
  EXPECT_EQ(find(leader, "kueue.x-k8s.io/pod-group-pod-index-label"), nullptr);
  EXPECT_EQ(string_at(annotations(group, 2), {"kueue.x-k8s.io/role-hash"}), "worker");
  const auto main = served_by_leader_worker_set(a_set("{spec: {leaderWorkerTemplate: {leaderTemplate: null}}}"), 1);
  EXPECT_EQ(string_at(annotations(main, 0), {"kueue.x-k8s.io/role-hash"}), "main");
}

TEST(LeaderWorkerSetGroups, WithoutIdentifierAnnotationsPodsLearnTheirGroupFromLabels) {
  const auto group = served_by_leader_worker_set(a_set(), 0);
  JobFacts labels = facts(group, nullptr);
  labels.gates.identifier_annotations = false;
  const auto plan = reconcile_group("ns", group.name, {managed(waiting_pod(0, 0))}, labels, kNow);
  ASSERT_EQ(plan.actions.size(), 1u);
  const Json& metadata = plan.actions[0].patch->body.at("metadata");
  EXPECT_EQ(string_at(metadata, {"labels", "kueue.x-k8s.io/pod-group-name"}), group.name);
  EXPECT_EQ(string_at(metadata, {"labels", "kueue.x-k8s.io/prebuilt-workload-name"}), group.name);
  EXPECT_EQ(find_path(metadata, {"annotations", "kueue.x-k8s.io/pod-group-name"}), nullptr);
}

TEST(LeaderWorkerSetGroups, APodHasAPlaceWhenItsLabelsAreSound) {
  const auto place = [](std::string_view changes) { return place_in_leader_worker_set(waiting_pod(4, 1, changes)); };
  ASSERT_TRUE(place("{}"));
  EXPECT_EQ(place("{}")->set, "a");
  EXPECT_EQ(place("{}")->group, 4);
  EXPECT_TRUE(place("{spec: {schedulingGates: null}}"));
  EXPECT_FALSE(place("{metadata: {annotations: {kueue.x-k8s.io/pod-suspending-parent: null}}}"));
  EXPECT_FALSE(place("{metadata: {ownerReferences: null}}"));
  EXPECT_FALSE(place("{metadata: {labels: {leaderworkerset.sigs.k8s.io/name: null}}}"));
  EXPECT_FALSE(place("{metadata: {labels: {leaderworkerset.sigs.k8s.io/group-index: '-1'}}}"));
  EXPECT_FALSE(place("{metadata: {labels: {leaderworkerset.sigs.k8s.io/group-index: 1x}}}"));
  EXPECT_FALSE(place("{metadata: {labels: {leaderworkerset.sigs.k8s.io/worker-index: ''}}}"));
}

TEST(LeaderWorkerSetGroups, NothingIsMadeForSetsThatAreNotManaged) {
  auto group = served_by_leader_worker_set(a_set(), 0);
  JobFacts unmanaged = facts(group, nullptr);
  unmanaged.managed = false;
  const auto plan = reconcile_group("ns", group.name, {managed(waiting_pod(0, 0))}, unmanaged, kNow);
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_TRUE(plan.actions.empty());
}

}  // namespace
}  // namespace berth::jobs::leader_worker_set_test
