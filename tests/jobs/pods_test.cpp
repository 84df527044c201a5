// The steps in the life of single pods and groups of pods, one look at a time.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/merge_patch.h"
#include "base/yaml.h"
#include "jobs/pods/pod_group.h"
#include "jobs/pods/single_pod.h"

namespace berth::jobs::pods_test {
namespace {

using api::kueue::Workload;

Json yaml(std::string_view text) { return parse_yaml(text).value().front(); }
const Time kNow = parse_time("2026-01-01T01:00:00Z").value();

// A gated pod "p" of one cpu in queue q.
Json pod(std::string_view changes = "{}") {
  static const Json base = yaml(R"(
apiVersion: v1
kind: Pod
metadata:
  name: p
  namespace: ns
  uid: uid-p
  resourceVersion: "7"
  creationTimestamp: "2026-01-01T00:00:00Z"
  labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/managed: "true"}
  annotations: {kueue.x-k8s.io/role-hash: small}
  finalizers: [kueue.x-k8s.io/managed]
  managedFields: [{manager: m}]
spec:
  containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]
  schedulingGates: [{name: kueue.x-k8s.io/admission}, {name: kueue.x-k8s.io/topology}]
status: {phase: Pending}
)");
  return apply_merge_patch(base, yaml(changes));
}
constexpr std::string_view kRunning =
    R"({spec: {schedulingGates: null, nodeName: n}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}})";
constexpr std::string_view kDeleted = R"({metadata: {deletionTimestamp: "2026-01-01T00:59:00Z"}})";

ManagedPodPtr managed(const Json& object) { return decode_managed_pod(object, true); }

// The pod `name` of group g; it changes in this order.
ManagedPodPtr member(const std::string& name, int total, std::initializer_list<std::string_view> changes = {}) {
  Json object = pod("{metadata: {name: " + name + ", uid: uid-" + name +
                    ", labels: {kueue.x-k8s.io/pod-group-name: g}, annotations: "
                    "{kueue.x-k8s.io/pod-group-total-count: '" +
                    std::to_string(total) + "'}}}");
  for (const auto change : changes) object = apply_merge_patch(object, yaml(change));
  return managed(object);
}

const api::kueue::ResourceFlavor& flavor() {
  static const api::kueue::ResourceFlavor one = [] {
    api::kueue::ResourceFlavor f;
    f.meta.name = "f";
    f.node_labels = {{"tier", "a"}};
    f.tolerations = {{"spot", "Exists", "", "", {}}};
    return f;
  }();
  return one;
}

JobFacts facts(WorkloadPtr stored = nullptr) {
  JobFacts result;
  result.flavors = [](std::string_view name) { return name == "f" ? &flavor() : nullptr; };
  result.workload_priority_class = [](std::string_view name) -> std::optional<std::int32_t> {
    return name == "high" ? std::optional(100) : std::nullopt;
  };
  result.priority_class = [](std::string_view) { return std::optional<std::int32_t>(); };
  result.global_default_priority_class = [] { return std::optional<std::pair<std::string, std::int32_t>>(); };
  result.workload = [stored](std::string_view, std::string_view name) {
    return stored && stored->meta.name == name ? stored : nullptr;
  };
  return result;
}

std::string true_condition(std::string_view type, std::string_view reason) {
  return "{type: " + std::string(type) + R"(, status: "True", reason: )" + std::string(reason) +
         R"(, message: because, lastTransitionTime: "2026-01-01T00:00:00Z"})";
}
const std::string kReserved = true_condition("QuotaReserved", "QuotaReserved");
const std::string kAdmitted = kReserved + ", " + true_condition("Admitted", "Admitted");
const std::string kEvicted = kAdmitted + ", " + true_condition("Evicted", "Preempted");

template <typename T>
std::vector<T> all(const PodPlan& plan) {
  std::vector<T> found;
  for (const auto& step : plan.steps) {
    if (const auto* one = std::get_if<T>(&step)) found.push_back(*one);
  }
  return found;
}

// The workload that a plan creates, as the API returns it, with these conditions; admitted ones have an assignment.
WorkloadPtr stored(const PodPlan& plan, const std::string& conditions) {
  Json object = all<CreateWorkload>(plan).at(0).object;
  ensure_path(object, {"metadata", "uid"}) = "wl-1";
  ensure_path(object, {"metadata", "resourceVersion"}) = "9";
  object.as_object()["status"] = yaml("{conditions: [" + conditions + "]}");
  if (!conditions.empty()) {
    JsonArray assignments;
    for (const auto& pod_set : array_at(object, {"spec", "podSets"}))
      assignments.push_back(JsonObject{{"name", string_at(pod_set, {"name"})},
                                       {"count", int_at(pod_set, {"count"})},
                                       {"flavors", JsonObject{{"cpu", "f"}}}});
    ensure_path(object, {"status", "admission"}) =
        JsonObject{{"clusterQueue", "cq"}, {"podSetAssignments", std::move(assignments)}};
  }
  return std::make_shared<const Workload>(api::kueue::decode_workload(object).value());
}

PodPlan single(const Json& object, const std::vector<WorkloadPtr>& workloads, const JobFacts& with = facts()) {
  return reconcile_pod(managed(object), workloads, with, kNow);
}
WorkloadPtr single_workload(const std::string& conditions) { return stored(single(pod(), {}), conditions); }

PodPlan group(std::vector<ManagedPodPtr> pods, const WorkloadPtr& workload = nullptr) {
  return reconcile_group("ns", "g", std::move(pods), facts(workload), kNow);
}
WorkloadPtr group_workload(const std::vector<ManagedPodPtr>& pods, const std::string& conditions) {
  return stored(group(pods), conditions);
}

std::vector<std::string> events(const PodPlan& plan) {
  std::vector<std::string> texts;
  for (const auto& event : all<JobEvent>(plan)) texts.push_back(event.reason + ": " + event.note);
  for (const auto& action : plan.actions) {
    if (action.event) texts.push_back(action.pod->name + " " + action.event->reason + ": " + action.event->note);
  }
  return texts;
}

using Texts = std::vector<std::string>;

// --- Which pods are managed, and what is kept of them.

TEST(ManagedPods, AMarkOfBerthIsEnough) {
  EXPECT_TRUE(belongs_to_berth(pod()));
  EXPECT_TRUE(belongs_to_berth(pod(R"({metadata: {labels: null, finalizers: null}})")));
  EXPECT_TRUE(belongs_to_berth(pod(R"({metadata: {labels: null}, spec: {schedulingGates: null}})")));
  EXPECT_TRUE(belongs_to_berth(pod(R"({metadata: {finalizers: null}, spec: {schedulingGates: null}})")));
  EXPECT_FALSE(belongs_to_berth(pod(
      R"({metadata: {labels: {kueue.x-k8s.io/queue-name: null}, finalizers: null}, spec: {schedulingGates: null}})")))
      << "the label alone";
  EXPECT_FALSE(belongs_to_berth(
      pod(R"({metadata: {labels: {kueue.x-k8s.io/managed: null}, finalizers: null}, spec: {schedulingGates: null}})")))
      << "a queue alone, for example of a pod whose Job is managed";
}

TEST(ManagedPods, AnAnnotationNamesTheGroupBeforeTheLabelDoes) {
  const Json both = pod(R"({metadata: {labels: {kueue.x-k8s.io/pod-group-name: by-label},
                                       annotations: {kueue.x-k8s.io/pod-group-name: by-annotation}}})");
  EXPECT_EQ(decode_managed_pod(both, true)->group, "by-annotation");
  EXPECT_EQ(decode_managed_pod(both, false)->group, "by-label");
}

TEST(ManagedPods, OnlyGatedPodsKeepTheirSpec) {
  EXPECT_EQ(managed(pod())->spec(), *find_path(pod(), {"spec"}));
  EXPECT_EQ(managed(pod(kRunning))->pod_template, nullptr);
  EXPECT_TRUE(managed(pod(kRunning))->spec().is_null());
}

TEST(ManagedPods, NothingIsKeptOfASinglePodThatIsOver) {
  const std::string ended = R"({spec: {schedulingGates: null}, status: {phase: Succeeded}})";
  EXPECT_NE(find(*managed(pod(ended))->object, "metadata"), nullptr) << "its finalizer must be removed";
  const auto over = managed(apply_merge_patch(pod(ended), yaml("{metadata: {finalizers: null}}")));
  EXPECT_TRUE(over->ended());
  EXPECT_EQ(find(*over->object, "metadata"), nullptr);
}

// So thousands of equal pods share one document.
TEST(ManagedPods, WhatIsKeptOfEqualPodsIsEqual) {
  const auto a = managed(pod("{metadata: {name: a, uid: uid-1, resourceVersion: '8'}}")),
             b = managed(pod("{metadata: {name: b, uid: uid-2, resourceVersion: '9', creationTimestamp: x}}"));
  EXPECT_EQ(to_string(*a->object), to_string(*b->object));
  EXPECT_EQ(to_string(*a->pod_template), to_string(*b->pod_template));
  EXPECT_EQ(object_at(*a->object, {"metadata"}).size(), 4u) << to_string(*a->object);
}

// --- Single pods.

TEST(SinglePods, ANewPodGetsAWorkload) {
  const PodPlan plan = single(pod(), {});
  const Json w = all<CreateWorkload>(plan).at(0).object;
  EXPECT_TRUE(string_at(w, {"metadata", "name"}).starts_with("pod-p-"));
  EXPECT_EQ(string_at(w, {"metadata", "labels", "kueue.x-k8s.io/job-uid"}), "uid-p");
  EXPECT_EQ(string_at(w, {"spec", "queueName"}), "q");
  const Json& pod_set = array_at(w, {"spec", "podSets"}).at(0);
  EXPECT_EQ(string_at(pod_set, {"name"}), "main");
  EXPECT_EQ(int_at(pod_set, {"count"}), 1);
  EXPECT_EQ(string_at(pod_set, {"topologyRequest", "podIndexLabel"}), "kueue.x-k8s.io/pod-group-pod-index");
  EXPECT_TRUE(object_at(pod_set, {"template", "metadata"}).empty());
  const Json& owner = array_at(w, {"metadata", "ownerReferences"}).at(0);
  EXPECT_EQ(string_at(owner, {"kind"}), "Pod");
  EXPECT_TRUE(bool_at(owner, {"controller"}));
  EXPECT_EQ(events(plan),
            Texts{"CreatedWorkload: Created Workload: ns/" + std::string(string_at(w, {"metadata", "name"}))});
}

TEST(SinglePods, APriorityClassThatDoesNotExistIsTold) {
  const PodPlan plan = single(pod("{metadata: {labels: {kueue.x-k8s.io/priority-class: none}}}"), {});
  EXPECT_TRUE(all<CreateWorkload>(plan).empty());
  EXPECT_EQ(events(plan), Texts{"WorkloadPriorityClassNotFound: WorkloadPriorityClass \"none\" not found"});
}

TEST(SinglePods, AWaitingPodStaysGated) {
  const PodPlan plan = single(pod(), {single_workload("")});
  EXPECT_TRUE(plan.actions.empty());
  ASSERT_EQ(all<ReportJob>(plan).size(), 1u);
  EXPECT_TRUE(all<ReportJob>(plan)[0].report.stopped);
  EXPECT_EQ(plan.steps.size(), 1u);
}

TEST(SinglePods, AnAdmittedPodIsLetGoInOneRequest) {
  const PodPlan plan = single(pod(R"({metadata: {resourceVersion: "8"}})"), {single_workload(kAdmitted)});
  ASSERT_EQ(plan.actions.size(), 1u);
  const Json& patch = plan.actions[0].patch->body;
  EXPECT_TRUE(find_path(patch, {"spec", "schedulingGates"})->is_null()) << "without a place both gates go";
  EXPECT_EQ(string_at(patch, {"spec", "nodeSelector", "tier"}), "a");
  EXPECT_EQ(array_at(patch, {"spec", "tolerations"}).size(), 1u);
  EXPECT_EQ(string_at(patch, {"metadata", "labels", "kueue.x-k8s.io/podset"}), "main");
  EXPECT_EQ(string_at(patch, {"metadata", "labels", "kueue.x-k8s.io/cluster-queue-name"}), "cq");
  EXPECT_EQ(events(plan), Texts{"p Started: Admitted by clusterQueue cq"});
}

TEST(SinglePods, APodThatContradictsItsAdmissionFinishesTheWorkload) {
  const auto before = single_workload(kAdmitted);
  Json other = pod("{spec: {nodeSelector: {tier: b}}}");
  const auto workload = stored(single(other, {}), kAdmitted);
  const PodPlan plan = single(other, {workload});
  EXPECT_TRUE(plan.actions.empty());
  const auto reports = all<ReportJob>(plan);
  ASSERT_FALSE(reports.empty());
  ASSERT_TRUE(reports.back().report.finished);
  EXPECT_EQ(reports.back().report.finished->reason, "FailedToStart");
}

TEST(SinglePods, AnEvictedPodIsMarkedAndDeleted) {
  const PodPlan plan = single(pod(kRunning), {single_workload(kEvicted)});
  ASSERT_EQ(plan.actions.size(), 1u);
  EXPECT_TRUE(plan.actions[0].remove);
  EXPECT_EQ(plan.actions[0].patch->subresource, "status");
  const JsonArray& conditions = array_at(plan.actions[0].patch->body, {"status", "conditions"});
  ASSERT_EQ(conditions.size(), 2u) << "the conditions of others stay";
  EXPECT_EQ(string_at(conditions[1], {"type"}), "TerminationTarget");
  EXPECT_EQ(string_at(conditions[1], {"reason"}), "WorkloadEvictedDueToPreempted");
  EXPECT_EQ(events(plan), Texts{"p Stopped: because"});
  EXPECT_FALSE(all<ReportJob>(plan)[0].report.stopped);
}

TEST(SinglePods, ADeletedPodIsReleasedAndGivesItsQuotaBackForGood) {
  Json gone = apply_merge_patch(pod(kRunning), yaml(kDeleted));
  const PodPlan evicted = single(gone, {single_workload(kEvicted)});
  ASSERT_EQ(evicted.actions.size(), 1u);
  EXPECT_TRUE(array_at(evicted.actions[0].patch->body, {"metadata", "finalizers"}).empty());
  EXPECT_TRUE(all<ReportJob>(evicted)[0].report.stopped);
  EXPECT_TRUE(all<ReportJob>(evicted)[0].report.for_good);
  gone = apply_merge_patch(gone, yaml("{metadata: {finalizers: null}}"));
  const PodPlan released = single(gone, {single_workload(kAdmitted)});
  EXPECT_TRUE(released.actions.empty());
  EXPECT_EQ(all<ReportJob>(released).at(0).report.finished->reason, "OwnerNotFound");
}

TEST(SinglePods, TheResultIsStoredBeforeThePodIsReleased) {
  const Json done = apply_merge_patch(pod(kRunning), yaml("{status: {phase: Succeeded, message: all done}}"));
  const PodPlan ended = single(done, {single_workload(kAdmitted)});
  EXPECT_TRUE(ended.actions.empty());
  EXPECT_EQ(all<ReportJob>(ended).at(0).report.finished->reason, "Succeeded");
  EXPECT_EQ(all<ReportJob>(ended).at(0).report.finished->message, "all done");
  const auto workload = single_workload(kAdmitted + ", " + true_condition("Finished", "Succeeded"));
  const PodPlan told = single(done, {workload});
  EXPECT_EQ(told.actions.size(), 1u);
  EXPECT_EQ(all<DropWorkloadFinalizer>(told).size(), 1u);
  EXPECT_EQ(events(told), Texts{"FinishedWorkload: Workload 'ns/" + workload->meta.name + "' is declared finished"});
}

TEST(SinglePods, APodThatRunsWithoutAdmissionIsDeleted) {
  EXPECT_EQ(events(single(pod(kRunning), {})), Texts{"p Stopped: Missing Workload; unable to run the job"});
  EXPECT_EQ(events(single(pod(kRunning), {single_workload(kReserved)})),
            Texts{"p Stopped: Not admitted by cluster queue"});
}

TEST(SinglePods, ADeletedWorkloadStopsARunningPodAndIsMadeAnewForAGatedOne) {
  Workload leaving = *single_workload(kAdmitted);
  leaving.meta.deletion = kNow;
  const auto workload = std::make_shared<const Workload>(leaving);
  EXPECT_EQ(events(single(pod(kRunning), {workload})), Texts{"p Stopped: Workload is deleted"});
  EXPECT_EQ(all<DropWorkloadFinalizer>(single(pod(), {workload})).size(), 1u);
}

TEST(SinglePods, AChangedQueueAndATightenedNodeSelectorReachTheWaitingWorkload) {
  const PodPlan moved = single(pod("{metadata: {labels: {kueue.x-k8s.io/queue-name: q2}}}"), {single_workload("")});
  EXPECT_EQ(string_at(all<UpdateWorkload>(moved).at(0).patch, {"spec", "queueName"}), "q2");
  const PodPlan tightened = single(pod("{spec: {nodeSelector: {disk: ssd}}}"), {single_workload("")});
  const Json patch = all<UpdateWorkload>(tightened).at(0).patch;
  EXPECT_EQ(string_at(array_at(patch, {"spec", "podSets"}).at(0), {"template", "spec", "nodeSelector", "disk"}), "ssd");
}

TEST(SinglePods, InANamespaceThatIsNotManagedNothingKeepsAPod) {
  JobFacts f = facts();
  f.managed = false;
  EXPECT_TRUE(single(pod(), {}, f).steps.empty());
  EXPECT_TRUE(single(pod(kRunning), {}, f).actions.empty());
  EXPECT_EQ(single(apply_merge_patch(pod(), yaml(kDeleted)), {}, f).actions.size(), 1u);
}

// --- Groups.

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
  EXPECT_EQ(string_at(pod_sets[0], {"name"}), "big");
  EXPECT_EQ(int_at(pod_sets[1], {"count"}), 2);
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

TEST(PodGroups, PodsThatDisagreeAreTold) {
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

TEST(PodGroups, AFailedPodIsReplacedAndReleased) {
  const auto workload = group_workload({member("a", 2), member("b", 2)}, kAdmitted);
  const auto ok = member("a", 2, {kRunning});
  const auto failed = member("b", 2, {kRunning, "{status: {phase: Failed}}"});
  const PodPlan lost = group({ok, failed}, workload);
  EXPECT_TRUE(lost.actions.empty());
  const auto told = all<ReportJob>(lost).at(0).report.replacement;
  ASSERT_TRUE(told && told->needed);
  EXPECT_EQ(told->reason, "PodsFailed");
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

TEST(PodGroups, AnEvictedGroupStopsAndWaitsForNewPods) {
  const auto workload = group_workload({member("a", 2), member("b", 2)}, kEvicted);
  const PodPlan stopping = group({member("a", 2, {kRunning}), member("b", 2, {kRunning})}, workload);
  EXPECT_EQ(events(stopping), (Texts{"a Stopped: because", "b Stopped: because"}));
  EXPECT_FALSE(all<ReportJob>(stopping).at(0).report.stopped);
  const PodPlan ending = group({member("a", 2, {kRunning, kDeleted})}, workload);
  EXPECT_FALSE(all<ReportJob>(ending).at(0).report.stopped) << "its containers may still run";
  EXPECT_EQ(ending.look_again, parse_time("2026-01-01T00:59:00Z").value() + kReplacementPatience);
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
  const PodPlan later = reconcile_group("ns", "g", pods, facts(workload), kNow + kReplacementPatience);
  ASSERT_EQ(later.actions.size(), 1u);
  EXPECT_EQ(later.actions[0].pod->name, "b");
  // So is one that succeeded, when the group does not finish.
  const auto done = member("b", 2, {kRunning, kDeleted, "{status: {phase: Succeeded}}"});
  EXPECT_TRUE(group({pods[0], done}, workload).actions.empty());
  EXPECT_EQ(reconcile_group("ns", "g", {pods[0], done}, facts(workload), kNow + kReplacementPatience).actions.size(),
            1u);
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

TEST(PodGroups, AWorkloadOfSomebodyElseWithTheNameOfTheGroupIsTold) {
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
}  // namespace berth::jobs::pods_test
