// Jobs that ask for topology: their pods start gated, and a stopped job is as the user wrote it.
#include <gtest/gtest.h>

#include "jobs/reconcile_support.h"

namespace berth::jobs::job_places_test {
namespace {

using namespace reconcile_support;

constexpr std::string_view kPlacedStatus = R"(
admission:
  clusterQueue: cq
  podSetAssignments:
  - name: main
    count: 3
    flavors: {cpu: gpu}
    resourceUsage: {cpu: "3"}
    topologyAssignment:
      levels: [kubernetes.io/hostname]
      slices: [{domainCount: 1, valuesPerLevel: [{universal: n1}], podCounts: {universal: 3}}]
conditions:
- {type: QuotaReserved, status: "True", reason: QuotaReserved, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}
- {type: Admitted, status: "True", reason: Admitted, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}
)";

// The job with all patches of `steps` applied.
Json patched(Json j, const std::vector<Step>& steps) {
  for (const auto& step : steps)
    if (const auto* patch = std::get_if<PatchJob>(&step)) j = apply_merge_patch(std::move(j), patch->body);
  return j;
}

// Reconciles until there is no patch left. A patch of the status removes the start time.
Json settled(Json j, const WorkloadPtr& w) {
  for (int round = 0; round < 6; ++round) {
    const auto steps = steps_of(j, {w});
    if (!first<PatchJob>(steps)) return j;
    j = patched(std::move(j), steps);
  }
  ADD_FAILURE() << "the job never settles";
  return j;
}

std::string template_of(const Json& j) { return canonical_json(*find_path(j, {"spec", "template"})); }

TEST(Places, AreAskedForByAnnotationsOfTheTemplate) {
  const Json j = job("{spec: {template: {metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}}}}");
  const auto request = batch_job().pod_sets(j)[0].topology_request;
  EXPECT_EQ(request->required, "rack");
  EXPECT_EQ(request->pod_index_label, "batch.kubernetes.io/job-completion-index");
  EXPECT_FALSE(batch_job().pod_sets(job())[0].topology_request->explicit_request());
}

TEST(Places, PodsOfAPlacedPodSetStartGated) {
  const auto w = workload(kPlacedStatus);
  const Json started = patched(job(), steps_of(job(), {w}));
  EXPECT_FALSE(bool_at(started, {"spec", "suspend"}));
  const Json& pods = *find_path(started, {"spec", "template"});
  EXPECT_EQ(to_string(Json(array_at(pods, {"spec", "schedulingGates"}))), R"([{"name":"kueue.x-k8s.io/topology"}])");
  EXPECT_EQ(string_at(pods, {"metadata", "labels", "kueue.x-k8s.io/podset"}), "main");
  EXPECT_EQ(string_at(pods, {"metadata", "annotations", "kueue.x-k8s.io/workload"}), w->meta.name);
  EXPECT_EQ(string_at(pods, {"metadata", "annotations", "kueue.x-k8s.io/podset-unconstrained-topology"}), "true")
      << "places that nobody asked for";
  EXPECT_EQ(string_at(pods, {"spec", "nodeSelector", "pool"}), "gpu");

  const Json asked =
      job("{spec: {template: {metadata: {annotations: {kueue.x-k8s.io/podset-preferred-topology: rack}}}}}");
  const Json other = patched(asked, steps_of(asked, {workload(kPlacedStatus, asked)}));
  EXPECT_EQ(
      find_path(other, {"spec", "template", "metadata", "annotations", "kueue.x-k8s.io/podset-unconstrained-topology"}),
      nullptr);
}

TEST(Places, OfAnAdmissionWithoutThemNeedNoGate) {
  const Json started = patched(job(), steps_of(job(), {workload(kAdmittedStatus)}));
  EXPECT_EQ(find_path(started, {"spec", "template", "spec", "schedulingGates"}), nullptr);
}

TEST(Places, AJobDoesNotStartWhileItsPlacesAreToBeDecided) {
  const auto w = workload(R"(
admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 3, flavors: {cpu: gpu}, delayedTopologyRequest: Pending}]}
conditions:
- {type: QuotaReserved, status: "True", reason: QuotaReserved, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}
- {type: Admitted, status: "True", reason: Admitted, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}
)");
  EXPECT_EQ(first<PatchJob>(steps_of(job(), {w})), nullptr);
}

TEST(Places, AStoppedJobIsAsTheUserWroteIt) {
  const auto placed = workload(kPlacedStatus);
  const Json running = patched(job(), steps_of(job(), {placed}));
  const std::string evicted_status =
      std::string(kPlacedStatus) +
      R"(- {type: Evicted, status: "True", reason: NodeFailures, message: gone, lastTransitionTime: "2026-01-01T00:00:00Z"})";
  const Json stopped = settled(running, workload(evicted_status));
  EXPECT_TRUE(bool_at(stopped, {"spec", "suspend"}));
  EXPECT_EQ(template_of(stopped), template_of(job()));
  EXPECT_FALSE(batch_job().stopping(stopped));
}

// Another client suspended the job, or the controller was not running: a workload is never created from a template
// that contains an admission.
TEST(Places, ATemplateWithAnAdmissionIsRestoredBeforeAnythingIsMadeOfIt) {
  const auto placed = workload(kPlacedStatus);
  const Json suspended = apply_merge_patch(patched(job(), steps_of(job(), {placed})), yaml("{spec: {suspend: true}}"));

  // The workload waits again: the template is restored from it, and the workload does not count as changed.
  const auto waiting = workload();
  const auto steps = steps_of(suspended, {waiting});
  EXPECT_EQ(first<UpdateWorkload>(steps), nullptr);
  ASSERT_NE(first<PatchJob>(steps), nullptr);
  const auto* said = first<ReportJob>(steps);
  ASSERT_NE(said, nullptr);
  EXPECT_FALSE(said->report.stopped) << "it is stopped when its template is restored";
  EXPECT_EQ(template_of(settled(suspended, waiting)), template_of(job()));

  // The workload is lost: what can be recognized as added by admission is removed, then a new workload is created.
  const auto lost = steps_of(suspended, {});
  EXPECT_EQ(first<CreateWorkload>(lost), nullptr);
  const Json cleaned = patched(suspended, lost);
  EXPECT_FALSE(carries_admission(*find_path(cleaned, {"spec", "template"})));
  EXPECT_EQ(find_path(cleaned, {"spec", "template", "spec", "schedulingGates"}), nullptr);
  EXPECT_NE(first<CreateWorkload>(steps_of(cleaned, {})), nullptr);
}

TEST(Places, AJobThatAsksForNonsenseGetsAWarningAndNoWorkload) {
  const Json bad = job(R"({spec: {template: {metadata: {annotations: {
    kueue.x-k8s.io/podset-slice-required-topology: rack, kueue.x-k8s.io/podset-slice-size: "4"}}}}})");
  const auto steps = steps_of(bad, {});
  EXPECT_EQ(first<CreateWorkload>(steps), nullptr);
  const auto* event = first<JobEvent>(steps);
  ASSERT_NE(event, nullptr);
  EXPECT_TRUE(event->warning);
  EXPECT_EQ(event->reason, "ErrWorkloadCompose");
  EXPECT_EQ(event->note,
            "spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-size]: Invalid value: \"4\": must not be "
            "greater than pod set count 3");

  const auto changed = steps_of(bad, {workload()});  // the workload describes the job before the change
  EXPECT_NE(first<DeleteWorkload>(changed), nullptr);
  EXPECT_EQ(first<UpdateWorkload>(changed), nullptr);
}

TEST(Places, AskedForAnewWhileTheJobWaitsReachTheWorkload) {
  const Json asked =
      job("{spec: {template: {metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}}}}");
  const auto* update = first<UpdateWorkload>(steps_of(asked, {workload()}));
  EXPECT_NE(update, nullptr);
}

}  // namespace
}  // namespace berth::jobs::job_places_test
