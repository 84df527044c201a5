// Cost of one event of a described job: what the controller computes when the status of a job with a queue changes,
// without requests. The target is 30 us.
#include <benchmark/benchmark.h>

#include <memory>
#include <string_view>

#include "base/yaml.h"
#include "jobs/compose.h"
#include "jobs/kinds/described_job.h"
#include "jobs/kinds/read/shipped.h"
#include "jobs/reconcile.h"

namespace berth::jobs::kinds {
namespace {

using api::kueue::Workload;

constexpr std::string_view kPod =
    "{metadata: {labels: {app: training}}, spec: {restartPolicy: Never, containers: [{name: main, image: "
    "example.com/training, command: [python, train.py], env: [{name: A, value: '1'}, {name: B, value: '2'}], "
    "resources: "
    "{requests: {cpu: '4', memory: 16Gi, nvidia.com/gpu: '1'}, limits: {nvidia.com/gpu: '1'}}, volumeMounts: [{name: "
    "data, mountPath: /data}]}], volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}}";

Json job_of(std::string_view kind) {
  const std::string pod(kPod);
  const std::string text =
      kind == "JobSet"
          ? "{spec: {suspend: false, replicatedJobs: [{name: leader, template: {spec: {template: " + pod +
                "}}}, {name: workers, replicas: 4, template: {spec: {parallelism: 8, completions: 8, template: " + pod +
                "}}}]}, status: {replicatedJobsStatus: [{name: leader, active: 1, ready: 1}, {name: workers, active: "
                "4, ready: 3}], conditions: [{type: StartupPolicyCompleted, status: 'True', reason: r, message: m}]}}"
          : "{spec: {runPolicy: {suspend: false}, pytorchReplicaSpecs: {Master: {replicas: 1, template: " + pod +
                "}, Worker: {replicas: 31, template: " + pod +
                "}}}, status: {conditions: [{type: Created, status: 'True', reason: r, message: m}, {type: Running, "
                "status: 'True', reason: r, message: m}], replicaStatuses: {Master: {active: 1}, Worker: {active: "
                "31}}}}";
  Json job = parse_yaml(text)->front();
  ensure_path(job, {"metadata"}) = JsonObject{
      {"name", "a"}, {"namespace", "ns"}, {"uid", "u"}, {"labels", JsonObject{{"kueue.x-k8s.io/queue-name", "q"}}}};
  return job;
}

WorkloadPtr workload_of(const JobAdapter& adapter, const Json& job) {
  Workload workload;
  workload.meta.name = "w";
  workload.meta.ns = "ns";
  workload.pod_sets = adapter.pod_sets(job);
  workload.queue_name = "q";
  api::OwnerReference owner;
  owner.uid = "u";
  owner.controller = true;
  workload.meta.owners.push_back(owner);
  workload.status.admission = api::kueue::Admission{"cq", {}};
  for (const auto& one : workload.pod_sets) {
    api::kueue::PodSetAssignment assignment;
    assignment.name = one.name;
    assignment.count = one.count;
    workload.status.admission->pod_set_assignments.push_back(assignment);
  }
  for (const auto* type : {"QuotaReserved", "Admitted"}) {
    api::Condition condition;
    condition.type = type;
    condition.status = true;
    workload.status.conditions.push_back(condition);
  }
  return std::make_shared<const Workload>(std::move(workload));
}

DescribedJob adapter_of(std::string_view name) {
  for (const auto& kind : shipped_job_kinds()) {
    if (kind->kind == name) return {kind, [](const auto&, auto, auto) { return nullptr; }};
  }
  std::abort();
}

void answers(benchmark::State& state, std::string_view kind) {
  const auto adapter = adapter_of(kind);
  const Json job = job_of(kind);
  const auto workload = workload_of(adapter, job);
  for (auto _ : state) {
    const OneLook one(adapter, job);
    benchmark::DoNotOptimize(describes(*workload, adapter.pod_sets(job), job, true, false));
    benchmark::DoNotOptimize(adapter.finished(job));
    benchmark::DoNotOptimize(adapter.active(job));
    benchmark::DoNotOptimize(adapter.pods_ready(job));
    benchmark::DoNotOptimize(adapter.reclaimable(job));
  }
}

// The whole look of the controller.
void look(benchmark::State& state, std::string_view kind) {
  const auto adapter = adapter_of(kind);
  const auto job = std::make_shared<const Json>(job_of(kind));
  const std::vector<WorkloadPtr> workloads{workload_of(adapter, *job)};
  JobFacts facts;
  facts.managed = true;
  facts.flavors = [](std::string_view) { return nullptr; };
  facts.workload_priority_class = [](std::string_view) { return std::nullopt; };
  facts.priority_class = [](std::string_view) { return std::nullopt; };
  facts.global_default_priority_class = [] { return std::nullopt; };
  facts.workload = [](std::string_view, std::string_view) { return WorkloadPtr(); };
  for (auto _ : state) benchmark::DoNotOptimize(reconcile(adapter, job, workloads, facts));
}

BENCHMARK_CAPTURE(answers, JobSet, "JobSet");
BENCHMARK_CAPTURE(answers, PyTorchJob, "PyTorchJob");
BENCHMARK_CAPTURE(look, JobSet, "JobSet");
BENCHMARK_CAPTURE(look, PyTorchJob, "PyTorchJob");

}  // namespace
}  // namespace berth::jobs::kinds
