// The steps in the life of the pods of a StatefulSet and of their workload, one look at a time.
#include <gtest/gtest.h>

#include "base/merge_patch.h"
#include "base/yaml.h"
#include "jobs/pods/pod_group.h"
#include "jobs/pods/stateful_set.h"

namespace berth::jobs::served_group_test {
namespace {

using api::kueue::Workload;
using Texts = std::vector<std::string>;

Json yaml(std::string_view text) { return parse_yaml(text).value().front(); }
const Time kNow = parse_time("2026-01-01T01:00:00Z").value();

JsonPtr set_of(std::string_view changes = "{}") {
  static const Json base = yaml(R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: a, namespace: ns, uid: uid-a, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  replicas: 2
  template:
    metadata:
      labels: {app: a}
      annotations: {kueue.x-k8s.io/pod-suspending-parent: statefulset, kueue.x-k8s.io/podset-required-topology: rack}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
)");
  return std::make_shared<const Json>(apply_merge_patch(base, yaml(changes)));
}
const std::string kGroup = groups_of_stateful_set(*set_of()).own;

// A pod of the StatefulSet as it is created behind the webhook of pods.
Json new_pod(const std::string& name, std::string_view changes = "{}") {
  const Json base = yaml("{metadata: {name: " + name + ", namespace: ns, uid: uid-" + name + R"(, resourceVersion: "7",
  creationTimestamp: "2026-01-01T00:00:00Z", labels: {app: a, kueue.x-k8s.io/managed: "true"},
  annotations: {kueue.x-k8s.io/pod-suspending-parent: statefulset},
  ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: a, uid: uid-a, controller: true}]},
  spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}],
         schedulingGates: [{name: kueue.x-k8s.io/admission}, {name: kueue.x-k8s.io/topology}]},
  status: {phase: Pending}})");
  return apply_merge_patch(base, yaml(changes));
}
ManagedPodPtr served(const Json& pod) {
  return decode_managed_pod(pod, true, [](const Json& one) {
    const auto place = place_in_stateful_set(one);
    return place ? std::optional(place->groups.own) : std::nullopt;
  });
}
constexpr std::string_view kRunning =
    R"({spec: {schedulingGates: null, nodeName: n}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}})";

JobFacts facts(const JsonPtr& set, const WorkloadPtr& stored) {
  JobFacts result;
  result.flavors = [](std::string_view) { return nullptr; };
  result.workload_priority_class = [](std::string_view name) -> std::optional<std::int32_t> {
    return name == "high" ? std::optional(100) : std::nullopt;
  };
  result.priority_class = [](std::string_view) { return std::optional<std::int32_t>(); };
  result.global_default_priority_class = [] { return std::optional<std::pair<std::string, std::int32_t>>(); };
  result.workload = [stored](std::string_view, std::string_view) { return stored; };
  result.served_group = [set, stored](std::string_view, std::string_view name) -> ServedGroupPtr {
    return set ? std::make_shared<ServedGroupState>(served_by_stateful_set(set, std::string(name), stored.get()))
               : nullptr;
  };
  return result;
}
PodPlan look(const JsonPtr& set, std::vector<ManagedPodPtr> pods, const WorkloadPtr& workload = nullptr) {
  return reconcile_group("ns", kGroup, std::move(pods), facts(set, workload), kNow);
}

template <typename T>
std::vector<T> all(const PodPlan& plan) {
  std::vector<T> found;
  for (const auto& step : plan.steps) {
    if (const auto* one = std::get_if<T>(&step)) found.push_back(*one);
  }
  return found;
}

// The pod as the plan of a look leaves it.
Json marked(Json pod) {
  const PodPlan plan = look(set_of(), {served(pod)});
  EXPECT_EQ(plan.actions.size(), 1u);
  for (const auto& action : plan.actions) pod = apply_merge_patch(pod, action.patch->body);
  return pod;
}

std::string condition(std::string_view type, std::string_view status, std::string_view reason) {
  return "{type: " + std::string(type) + ", status: \"" + std::string(status) + "\", reason: " + std::string(reason) +
         R"(, message: because, lastTransitionTime: "2026-01-01T00:00:00Z"})";
}
const std::string kReserved = condition("QuotaReserved", "True", "QuotaReserved");
const std::string kAdmitted = kReserved + ", " + condition("Admitted", "True", "Admitted");

WorkloadPtr stored(const std::string& conditions) {
  Json object = all<CreateWorkload>(look(set_of(), {})).at(0).object;
  ensure_path(object, {"metadata", "uid"}) = "wl-1";
  ensure_path(object, {"metadata", "resourceVersion"}) = "9";
  object.as_object()["status"] = yaml("{conditions: [" + conditions + "]}");
  if (conditions.starts_with(kReserved))
    ensure_path(object, {"status", "admission"}) =
        yaml("{clusterQueue: cq, podSetAssignments: [{name: main, count: 2}]}");
  return std::make_shared<const Workload>(api::kueue::decode_workload(object).value());
}
std::optional<std::string> on_hold(const PodPlan& plan) {
  const auto reports = all<ReportJob>(plan);
  return reports.empty() ? std::nullopt : reports.front().report.on_hold;
}
Texts events(const PodPlan& plan) {
  Texts reasons;
  for (const auto& create : all<CreateWorkload>(plan)) reasons.push_back(create.event.reason);
  for (const auto& event : all<JobEvent>(plan)) reasons.push_back(event.reason);
  return reasons;
}

TEST(ServedGroups, AStatefulSetMakesTheWorkloadBeforeItHasPods) {
  const PodPlan plan = look(set_of(), {});
  const Json w = all<CreateWorkload>(plan).at(0).object;
  EXPECT_EQ(string_at(w, {"metadata", "name"}), kGroup);
  EXPECT_TRUE(kGroup.starts_with("statefulset-a-"));
  EXPECT_EQ(string_at(w, {"metadata", "labels", "kueue.x-k8s.io/job-uid"}), "uid-a");
  EXPECT_EQ(to_string(w.at("metadata").at("annotations")),
            R"({"kueue.x-k8s.io/is-group-workload":"true","kueue.x-k8s.io/job-owner-gvk":"apps/v1, Kind=StatefulSet",)"
            R"("kueue.x-k8s.io/job-owner-name":"a"})");
  const Json& owner = array_at(w, {"metadata", "ownerReferences"}).at(0);
  EXPECT_EQ(string_at(owner, {"kind"}), "StatefulSet");
  EXPECT_FALSE(bool_at(owner, {"controller"}));
  EXPECT_EQ(string_at(w, {"spec", "queueName"}), "q");
  const Json& pod_set = array_at(w, {"spec", "podSets"}).at(0);
  EXPECT_EQ(string_at(pod_set, {"name"}), "main");
  EXPECT_EQ(int_at(pod_set, {"count"}), 2);
  EXPECT_EQ(string_at(pod_set, {"topologyRequest", "podIndexLabel"}), "apps.kubernetes.io/pod-index");
  EXPECT_EQ(string_at(pod_set, {"topologyRequest", "required"}), "rack");
  EXPECT_EQ(events(plan), Texts{"CreatedWorkload"});
  EXPECT_EQ(string_at(*plan.owner->owner, {"metadata", "name"}), "a") << "the event is on the StatefulSet";
}

TEST(ServedGroups, NothingIsMadeForNoReplicasOrWithoutTheOwner) {
  EXPECT_TRUE(look(set_of("{spec: {replicas: 0}}"), {}).steps.empty());
  const PodPlan unknown = look(nullptr, {served(new_pod("a-0"))});
  EXPECT_TRUE(unknown.steps.empty());
  EXPECT_TRUE(unknown.actions.empty());
}

TEST(ServedGroups, PodsArePutIntoTheGroupInOneRequest) {
  const Json pod = marked(new_pod("a-0"));
  EXPECT_EQ(to_string(pod.at("metadata").at("labels")),
            R"({"app":"a","kueue.x-k8s.io/managed":"true","kueue.x-k8s.io/queue-name":"q"})");
  const JsonObject annotations = object_at(pod, {"metadata", "annotations"});
  EXPECT_EQ(annotations.size(), 8u);
  const auto annotation = [&](std::string_view key) {
    return string_at(pod, {"metadata", "annotations", "kueue.x-k8s.io/" + std::string(key)});
  };
  EXPECT_EQ(annotation("pod-group-name"), kGroup);
  EXPECT_EQ(annotation("prebuilt-workload-name"), kGroup);
  EXPECT_EQ(annotation("pod-group-total-count"), "2");
  EXPECT_EQ(annotation("pod-group-fast-admission"), "true");
  EXPECT_EQ(annotation("pod-group-serving"), "true");
  EXPECT_EQ(annotation("pod-group-pod-index-label"), "apps.kubernetes.io/pod-index");
  EXPECT_EQ(annotation("role-hash"), "main");
  EXPECT_TRUE(look(set_of(), {served(pod)}).actions.empty());
  // The queue of waiting pods follows the StatefulSet.
  const PodPlan moved =
      look(set_of("{metadata: {labels: {kueue.x-k8s.io/queue-name: q2}}}"), {served(pod)}, stored(""));
  ASSERT_EQ(moved.actions.size(), 1u);
  EXPECT_EQ(to_string(moved.actions[0].patch->body), R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"q2"}}})");
  EXPECT_EQ(string_at(all<UpdateWorkload>(moved).at(0).patch, {"spec", "queueName"}), "q2");
}

// The webhook of pods refuses another group.
TEST(ServedGroups, APodThatWaitedForAFormerOwnerIsMadeAnew) {
  const auto pod = served(new_pod("a-0", R"({metadata: {annotations: {kueue.x-k8s.io/pod-group-name: former}}})"));
  const PodPlan plan = look(set_of(), {pod}, stored(kAdmitted));
  ASSERT_EQ(plan.actions.size(), 1u);
  EXPECT_TRUE(plan.actions[0].remove);
  EXPECT_EQ(plan.actions[0].event->reason, "PodOfAnotherGroup");
}

TEST(ServedGroups, AnAdmittedWorkloadLetsThePodsGo) {
  const auto pod = served(marked(new_pod("a-0")));
  EXPECT_TRUE(look(set_of(), {pod}, stored("")).actions.empty());
  const PodPlan plan = look(set_of(), {pod}, stored(kAdmitted));
  ASSERT_EQ(plan.actions.size(), 1u);
  EXPECT_TRUE(find_path(plan.actions[0].patch->body, {"spec", "schedulingGates"})->is_null());
  EXPECT_EQ(events(plan), Texts{"OwnerReferencesAdded"});
  // A pod that is not in the group yet waits for that.
  const PodPlan early = look(set_of(), {served(new_pod("a-1"))}, stored(kAdmitted));
  ASSERT_EQ(early.actions.size(), 1u);
  EXPECT_FALSE(find_path(early.actions[0].patch->body, {"spec"}));
}

// A client removes the label: the pod still runs on the quota of the group, and is stopped with it.
TEST(ServedGroups, APodThatLosesItsLabelStaysInTheGroup) {
  const Json pod =
      apply_merge_patch(marked(new_pod("a-0")),
                        yaml("{metadata: {labels: {kueue.x-k8s.io/managed: null}}, spec: {schedulingGates: null}}"));
  EXPECT_TRUE(served(pod)->ran_before) << "nothing tells that it was let go for this group";
  const auto let_go = [&](const std::string& workload) {
    Json out = pod;
    ensure_path(out, {"metadata", "annotations", "kueue.x-k8s.io/workload"}) = Json(workload);
    return served(out);
  };
  EXPECT_TRUE(let_go("other")->ran_before);
  EXPECT_FALSE(let_go(std::string(kGroup))->ran_before);
}

// For example those of an earlier StatefulSet without a queue, which was deleted and left its pods behind.
TEST(ServedGroups, APodThatRanBeforeCountsWhileTheWorkloadIsAdmitted) {
  const auto ran = served(apply_merge_patch(
      new_pod("a-0", kRunning), yaml("{metadata: {labels: {kueue.x-k8s.io/managed: null}, annotations: null}}")));
  EXPECT_TRUE(ran->ran_before);
  EXPECT_EQ(ran->group, kGroup);
  const auto waiting = served(marked(new_pod("a-1")));
  EXPECT_FALSE(waiting->ran_before);

  const PodPlan alone = look(set_of(), {ran});
  EXPECT_TRUE(alone.actions.empty()) << "it is not stopped for want of a workload";
  EXPECT_EQ(all<CreateWorkload>(alone).size(), 1u);
  const PodPlan early = look(set_of(), {ran, waiting}, stored(kReserved));
  EXPECT_TRUE(early.actions.empty()) << "nor for want of quota";
  EXPECT_TRUE(all<ReportJob>(early).at(0).report.stopped);

  const PodPlan admitted = look(set_of(), {ran, waiting}, stored(kAdmitted));
  ASSERT_EQ(admitted.actions.size(), 1u);
  EXPECT_EQ(admitted.actions[0].pod, waiting);
  EXPECT_FALSE(all<ReportJob>(admitted).at(0).report.stopped);
  const auto other = served(apply_merge_patch(marked(new_pod("a-1")), yaml(kRunning)));
  EXPECT_EQ(all<ReportJob>(look(set_of(), {ran, other}, stored(kAdmitted))).at(0).report.pods_ready, true);

  const PodPlan evicted = look(set_of(), {ran, other}, stored(kAdmitted + ", " + condition("Evicted", "True", "X")));
  EXPECT_EQ(evicted.actions.size(), 2u) << "they stop together";
  EXPECT_TRUE(look(nullptr, {ran}, stored(kAdmitted)).actions.empty());
}

TEST(ServedGroups, ScaledToZeroTheWorkloadIsOnHold) {
  const auto none = set_of("{spec: {replicas: 0}}");
  const PodPlan empty = look(none, {}, stored(kAdmitted));
  EXPECT_EQ(on_hold(empty), "StatefulSet scaled to zero; workload on hold");
  EXPECT_TRUE(all<ReportJob>(empty)[0].report.stopped);
  EXPECT_FALSE(all<ReportJob>(empty)[0].report.pods_ready);
  const PodPlan ending =
      look(none, {served(apply_merge_patch(marked(new_pod("a-0")), yaml(kRunning)))}, stored(kAdmitted));
  EXPECT_FALSE(all<ReportJob>(ending)[0].report.stopped);
  EXPECT_TRUE(ending.actions.empty()) << "the StatefulSet deletes its pods itself";
  const PodPlan gated = look(none, {served(marked(new_pod("a-0")))}, stored(kAdmitted));
  EXPECT_TRUE(gated.actions.empty()) << "it is about to be deleted";
  EXPECT_EQ(on_hold(look(set_of(), {}, stored(kAdmitted))), "");
}

// Kueue leaves such a StatefulSet stuck.
TEST(ServedGroups, FromZeroToAnotherNumberTheWorkloadIsUpdatedBeforeItIsQueued) {
  const auto held = stored(condition("QuotaReserved", "False", "OnHold"));
  EXPECT_EQ(on_hold(look(set_of(), {}, held)), "");
  const PodPlan more = look(set_of("{spec: {replicas: 3}}"), {}, held);
  EXPECT_EQ(on_hold(more), "because");
  const auto updates = all<UpdateWorkload>(more);
  ASSERT_EQ(updates.size(), 1u);
  EXPECT_EQ(int_at(array_at(updates[0].patch, {"spec", "podSets"}).at(0), {"count"}), 3);
}

TEST(ServedGroups, AWorkloadWithQuotaKeepsItsSizeAndTheOwnerIsReported) {
  std::vector<ManagedPodPtr> pods;
  for (const std::string name : {"a-0", "a-1"})
    pods.push_back(served(apply_merge_patch(marked(new_pod(name)), yaml(kRunning))));
  Json third = marked(new_pod("a-2"));
  ensure_path(third, {"metadata", "annotations", "kueue.x-k8s.io/pod-group-total-count"}) = "3";
  pods.push_back(served(third));
  const PodPlan plan = look(set_of("{spec: {replicas: 3}}"), pods, stored(kAdmitted));
  ASSERT_EQ(plan.actions.size(), 1u);
  EXPECT_EQ(plan.actions[0].pod->name, "a-2");
  EXPECT_FALSE(plan.actions[0].patch || plan.actions[0].remove) << "the third pod waits and is not deleted";
  EXPECT_EQ(plan.actions[0].event->note, "workload ns/" + kGroup + " has quota for 2 pods, and other pods use it");
  EXPECT_EQ(events(plan).front(), "ErrWorkloadCompose");
}

// "kubectl scale" passes the webhooks by.
TEST(ServedGroups, AStatefulSetThatWasScaledDownIsReadyWithFewerPods) {
  const auto a0 = served(apply_merge_patch(marked(new_pod("a-0")), yaml(kRunning)));
  const PodPlan plan = look(set_of("{spec: {replicas: 1}}"), {a0}, stored(kAdmitted));
  EXPECT_EQ(all<ReportJob>(plan).at(0).report.pods_ready, true);
  EXPECT_EQ(all<ReportJob>(look(set_of(), {a0}, stored(kAdmitted))).at(0).report.pods_ready, false);
}

TEST(ServedGroups, OwnerAndPodsAreInformedThatTheFlavorIsGone) {
  Workload w = *stored(kAdmitted);
  w.status.admission->pod_set_assignments.at(0).flavors = {{"cpu", "old"}};
  const PodPlan plan = look(set_of(), {served(marked(new_pod("a-0")))}, std::make_shared<const Workload>(std::move(w)));
  ASSERT_EQ(plan.actions.size(), 1u);
  EXPECT_FALSE(plan.actions[0].patch || plan.actions[0].remove);
  EXPECT_TRUE(plan.actions[0].event->note.starts_with("ResourceFlavor old does not exist: "));
  EXPECT_EQ(events(plan).back(), "FailedToStart");
}

TEST(ServedGroups, AFailedPodIsReplacedByItsOwnerWithoutAWordFromTheWorkload) {
  const auto failed = served(
      apply_merge_patch(marked(new_pod("a-0")), yaml("{spec: {schedulingGates: null}, status: {phase: Failed}}")));
  const PodPlan plan = look(set_of(), {failed}, stored(kAdmitted));
  EXPECT_FALSE(all<ReportJob>(plan)[0].report.replacement);
  EXPECT_FALSE(all<ReportJob>(plan)[0].report.finished);
}

TEST(ServedGroups, AWorkloadThatWasGivenUpByMistakeIsMadeAnew) {
  const auto finished = [](std::string_view reason, bool with_finalizer) {
    Workload w = *stored(condition("Finished", "True", reason));
    if (!with_finalizer) w.meta.finalizers.clear();
    return std::make_shared<const Workload>(std::move(w));
  };
  EXPECT_EQ(all<DropWorkloadFinalizer>(look(set_of(), {}, finished("OutOfSync", true))).size(), 1u);
  const auto pod = served(marked(new_pod("a-0")));
  for (const auto& pods : {std::vector<ManagedPodPtr>{}, std::vector<ManagedPodPtr>{pod}}) {
    EXPECT_EQ(all<DeleteWorkload>(look(set_of(), pods, finished("OutOfSync", false))).size(), 1u);
    EXPECT_EQ(all<DeleteWorkload>(look(set_of(), pods, finished("FailedToStart", false))).size(), 0u);
  }
  const PodPlan stuck = look(set_of(), {pod}, finished("FailedToStart", false));
  ASSERT_EQ(stuck.actions.size(), 1u);
  EXPECT_FALSE(stuck.actions[0].patch || stuck.actions[0].remove);
  EXPECT_EQ(stuck.actions[0].event->note, "workload ns/" + kGroup +
                                              " is finished (FailedToStart), so this pod does not start: delete the "
                                              "workload to queue its pods again");
}

TEST(ServedGroups, WithoutItsOwnerTheWorkloadIsAnOrphan) {
  const PodPlan plan = look(nullptr, {}, stored(kAdmitted));
  EXPECT_EQ(all<ReportJob>(plan).at(0).report.finished->reason, "OwnerNotFound");
}

}  // namespace
}  // namespace berth::jobs::served_group_test
