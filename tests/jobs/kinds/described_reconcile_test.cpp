// Described jobs in their lives: what they have of their own.
#include <gtest/gtest.h>

#include "base/merge_patch.h"
#include "jobs/compose.h"
#include "jobs/kinds/hook.h"
#include "jobs/kinds/support.h"
#include "jobs/reconcile.h"

namespace berth::jobs::kinds::described_reconcile_test {
namespace {

using api::kueue::Workload;
using support::yaml;

JobFacts facts() {
  JobFacts out;
  out.flavors = [](std::string_view) -> const api::kueue::ResourceFlavor* {
    static const api::kueue::ResourceFlavor flavor = [] {
      api::kueue::ResourceFlavor f;
      f.meta.name = "f";
      f.node_labels = {{"tier", "a"}};
      return f;
    }();
    return &flavor;
  };
  out.workload_priority_class = [](std::string_view) { return std::nullopt; };
  out.priority_class = [](std::string_view) { return std::nullopt; };
  out.global_default_priority_class = [] { return std::nullopt; };
  out.workload = [](std::string_view, std::string_view) { return WorkloadPtr(); };
  return out;
}

WorkloadPtr admitted(const JobAdapter& adapter, const Json& job) {
  Json object = make_workload(adapter, job, facts()).value();
  ensure_path(object, {"metadata", "uid"}) = "w";
  JsonArray assignments;
  for (const auto& one : adapter.pod_sets(job))
    assignments.push_back(JsonObject{{"name", one.name}, {"count", one.count}, {"flavors", JsonObject{{"cpu", "f"}}}});
  object.as_object()["status"] = yaml(
      "{conditions: [{type: QuotaReserved, status: 'True', reason: r, message: m}, {type: Admitted, status: 'True', "
      "reason: r, message: m}]}");
  ensure_path(object, {"status", "admission"}) =
      JsonObject{{"clusterQueue", "cq"}, {"podSetAssignments", std::move(assignments)}};
  return std::make_shared<const Workload>(api::kueue::decode_workload(object).value());
}

template <typename T>
std::vector<const T*> all(const std::vector<Step>& steps) {
  std::vector<const T*> out;
  for (const auto& step : steps) {
    if (const auto* one = std::get_if<T>(&step)) out.push_back(one);
  }
  return out;
}

// As a batch Job does (tests/jobs/slices_test.cpp).
TEST(DescribedJobs, AnElasticOneGrowsByASliceAndShrinksInPlace) {
  const DescribedJob adapter = support::job_of("RayCluster");
  const auto cluster = [](int small, int large) {
    return yaml(
        "{metadata: {name: c, namespace: ns, uid: u, generation: 4, labels: {kueue.x-k8s.io/queue-name: q}, "
        "annotations: "
        "{kueue.x-k8s.io/elastic-job: 'true'}}, spec: {headGroupSpec: {template: {spec: {containers: []}}}, "
        "workerGroupSpecs: [{groupName: small, numOfHosts: " +
        std::string(small < 0 ? "2000000000" : "1") + ", replicas: " + std::to_string(std::abs(small)) +
        ", template: {spec: {containers: []}}}, {groupName: large, replicas: " + std::to_string(large) +
        ", template: {spec: {containers: []}}}]}}");
  };
  const auto before = std::make_shared<Workload>(*admitted(adapter, cluster(2, 2)));
  before->meta.annotations = {{"kueue.x-k8s.io/elastic-job", "true"}, {"kueue.x-k8s.io/workload-slice-name", "first"}};
  const auto steps = [&](int small, int large) {
    return reconcile(adapter, std::make_shared<const Json>(cluster(small, large)), {before}, facts());
  };
  const auto counts = [](const Json& spec) {
    std::string out;
    for (const Json& one : array_at(spec, {"spec", "podSets"})) out += std::to_string(int_at(one, {"count"})) + " ";
    return out;
  };
  for (const auto& [small, large] : {std::pair(3, 2), std::pair(3, 1)}) {
    const auto grown = steps(small, large);
    ASSERT_EQ(all<CreateWorkload>(grown).size(), 1U);
    const Json& made = all<CreateWorkload>(grown)[0]->object;
    EXPECT_EQ(counts(made), "1 3 " + std::to_string(large) + " ");
    EXPECT_EQ(string_at(made, {"metadata", "annotations", "kueue.x-k8s.io/workload-slice-replacement-for"}),
              "ns/" + before->meta.name);
    EXPECT_EQ(string_at(made, {"metadata", "annotations", "kueue.x-k8s.io/workload-slice-name"}), "first");
    EXPECT_NE(string_at(made, {"metadata", "name"}), before->meta.name);
    EXPECT_TRUE(all<PatchJob>(grown).empty()) << "the pods run on";
  }
  const auto shrunk = steps(0, 1);
  ASSERT_EQ(all<UpdateWorkload>(shrunk).size(), 1U);
  EXPECT_EQ(counts(all<UpdateWorkload>(shrunk)[0]->patch), "1 0 1 ");
  EXPECT_TRUE(all<PatchJob>(shrunk).empty());
  const auto huge = steps(-3, 2);
  EXPECT_TRUE(all<PatchJob>(huge).empty() && all<CreateWorkload>(huge).empty()) << "what cannot be read stops nothing";
  ASSERT_EQ(all<JobEvent>(huge).size(), 1U);
  EXPECT_EQ(all<JobEvent>(huge)[0]->reason, "ErrWorkloadCompose");
  ASSERT_EQ(all<ReportJob>(huge).size(), 1U) << "it is still looked after";
  const auto same = steps(2, 2);
  EXPECT_TRUE(all<UpdateWorkload>(same).empty() && all<CreateWorkload>(same).empty() && all<PatchJob>(same).empty());
}

TEST(DescribedJobs, ATrainJobStartsWithTwoRequests) {
  const DescribedJob adapter(support::shipped("TrainJob"), [](const auto&, auto, auto) {
    return std::make_shared<const Json>(
        yaml("{spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: "
             "{containers: []}}}}}]}}}}"));
  });
  Json job = yaml(
      "{metadata: {name: a, namespace: ns, uid: u, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {suspend: true, "
      "runtimeRef: {name: r}}}");
  support::shipped("TrainJob")->hook->set_defaults(job);
  const auto steps = reconcile(adapter, std::make_shared<const Json>(job), {admitted(adapter, job)}, facts());
  const auto patches = all<PatchJob>(steps);
  ASSERT_EQ(patches.size(), 2u);
  EXPECT_EQ(find_path(patches[0]->body, {"spec", "suspend"}), nullptr);
  EXPECT_EQ(canonical_json(patches[1]->body), R"({"spec":{"suspend":false}})");
}

// A suspended TrainJob with the patch of its admission has half started, or it has half stopped: its runtime tells
// which.
TEST(DescribedJobs, ATrainJobWhoseRuntimeChangesStopsForANewWorkload) {
  Json runtime = yaml(
      "{spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: "
      "[{name: c, image: old}]}}}}}]}}}}");
  const DescribedJob adapter(support::shipped("TrainJob"),
                             [&](const auto&, auto, auto) { return std::make_shared<const Json>(runtime); });
  Json job = yaml(
      "{metadata: {name: a, namespace: ns, uid: u, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {suspend: true, "
      "runtimeRef: {name: r}}}");
  support::shipped("TrainJob")->hook->set_defaults(job);
  const Json original = job;
  const WorkloadPtr workload = admitted(adapter, job);
  const auto look = [&] {
    auto steps = reconcile(adapter, std::make_shared<const Json>(job), {workload}, facts());
    for (const PatchJob* patch : all<PatchJob>(steps)) job = apply_merge_patch(job, patch->body);
    return steps;
  };
  look();
  ASSERT_FALSE(adapter.suspended(job));
  ASSERT_TRUE(all<PatchJob>(look()).empty()) << "it runs";

  ensure_path(runtime, {"spec", "template", "spec", "replicatedJobs"}).get_array()[0] =
      yaml("{name: node, template: {spec: {template: {spec: {containers: [{name: c, image: new}]}}}}}");
  look();
  EXPECT_TRUE(adapter.suspended(job));
  look();
  EXPECT_EQ(canonical_json(job), canonical_json(original));
  EXPECT_EQ(all<DeleteWorkload>(look()).size(), 1u);
}

TEST(DescribedJobs, AJobThatItsOperatorRefusesKeepsItsWorkloadOnHold) {
  const auto adapter = support::job_of("RayJob");
  Json job = yaml(
      "{metadata: {name: a, namespace: ns, uid: u, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {suspend: true, "
      "submissionMode: HTTPMode, rayClusterSpec: {headGroupSpec: {template: {spec: {containers: []}}}}}}");
  const WorkloadPtr workload = admitted(adapter, job);
  ensure_path(job, {"spec", "suspend"}) = false;
  ensure_path(job, {"status", "jobDeploymentStatus"}) = "ValidationFailed";
  auto steps = reconcile(adapter, std::make_shared<const Json>(job), {workload}, facts());
  ASSERT_EQ(all<PatchJob>(steps).size(), 1u);
  const auto held = [&](bool stopped) {
    const auto reports = all<ReportJob>(steps);
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0]->report.on_hold, "Job is on hold");
    EXPECT_EQ(reports[0]->report.stopped, stopped);
    EXPECT_TRUE(all<DeleteWorkload>(steps).empty());
  };
  held(false);
  ensure_path(job, {"spec", "suspend"}) = true;
  steps = reconcile(adapter, std::make_shared<const Json>(job), {workload}, facts());
  EXPECT_TRUE(all<PatchJob>(steps).empty());
  held(true);
  EXPECT_TRUE(reconcile(adapter, std::make_shared<const Json>(job), {}, facts()).empty());
  ensure_path(job, {"status", "jobDeploymentStatus"}) = "Suspended";
  steps = reconcile(adapter, std::make_shared<const Json>(job), {workload}, facts());
  ASSERT_EQ(all<ReportJob>(steps).size(), 1u);
  EXPECT_EQ(all<ReportJob>(steps)[0]->report.on_hold, "") << "it is held no more";
}

}  // namespace
}  // namespace berth::jobs::kinds::described_reconcile_test
