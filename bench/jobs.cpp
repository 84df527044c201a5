// Cost of one look at a single pod and at a group of 1,000 pods, at each step of their lives: what the controller
// computes for a change of a pod, without requests.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/kueue/pod_rules.h"
#include "api/kueue/types.h"
#include "base/time.h"
#include "jobs/pods/pod_group.h"
#include "jobs/pods/single_pod.h"

namespace berth::jobs {
namespace {

using api::kueue::Workload;

constexpr int kPods = 1'000;
const Time kNow = parse_time("2026-01-01T01:00:00Z").value();

enum class Stage : std::uint8_t { kNew, kWaiting, kAdmitted, kRunning, kFinished };

// A pod as the API server stores it. `group`: of kPods pods; "" for a single pod.
Json pod_json(int number, const std::string& group, bool running) {
  const std::string name = "pod-" + std::to_string(number);
  JsonObject labels{{"kueue.x-k8s.io/queue-name", "team"}, {"app", "training"}}, annotations;
  if (!group.empty()) {
    labels["kueue.x-k8s.io/pod-group-name"] = group;
    annotations["kueue.x-k8s.io/pod-group-total-count"] = std::to_string(kPods);
  }
  const Json container =
      JsonObject{{"name", "main"},
                 {"image", "example.com/training"},
                 {"resources", JsonObject{{"requests", JsonObject{{"cpu", "1"}, {"memory", "1Gi"}}}}},
                 {"terminationMessagePath", "/dev/termination-log"},
                 {"terminationMessagePolicy", "File"},
                 {"imagePullPolicy", "Always"}};
  const auto toleration = [](const char* key) {
    return JsonObject{{"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}};
  };
  Json pod = JsonObject{{"metadata", JsonObject{{"name", name},
                                                {"namespace", "team"},
                                                {"uid", "uid-" + name},
                                                {"resourceVersion", "7"},
                                                {"creationTimestamp", "2026-01-01T00:00:00Z"},
                                                {"labels", std::move(labels)},
                                                {"annotations", std::move(annotations)}}},
                        {"spec", JsonObject{{"restartPolicy", "Never"},
                                            {"containers", JsonArray{container}},
                                            {"tolerations", JsonArray{toleration("node.kubernetes.io/not-ready"),
                                                                      toleration("node.kubernetes.io/unreachable")}}}},
                        {"status", JsonObject{{"phase", "Pending"}}}};
  api::kueue::default_pod(pod, {});
  if (running) {
    pod.as_object()["status"] =
        JsonObject{{"phase", "Running"}, {"conditions", JsonArray{JsonObject{{"type", "Ready"}, {"status", "True"}}}}};
    JsonObject& spec = pod.at("spec").as_object();
    spec.erase("schedulingGates");
    spec["nodeName"] = "node";
  }
  return pod;
}

JobFacts facts_with(const WorkloadPtr& stored) {
  static const api::kueue::ResourceFlavor flavor = [] {
    api::kueue::ResourceFlavor one;
    one.meta.name = "default";
    one.node_labels = {{"pool", "a"}};
    return one;
  }();
  JobFacts facts;
  facts.flavors = [](std::string_view) { return &flavor; };
  facts.workload_priority_class = [](std::string_view) { return std::optional<std::int32_t>(); };
  facts.priority_class = [](std::string_view) { return std::optional<std::int32_t>(); };
  facts.global_default_priority_class = [] { return std::optional<std::pair<std::string, std::int32_t>>(); };
  facts.workload = [stored](std::string_view, std::string_view name) {
    return stored && stored->meta.name == name ? stored : nullptr;
  };
  return facts;
}

// The workload that `plan` creates, as the API server stores it at that stage.
WorkloadPtr stored(const PodPlan& plan, Stage stage) {
  for (const auto& step : plan.steps) {
    const auto* created = std::get_if<CreateWorkload>(&step);
    if (created == nullptr) continue;
    Json object = created->object;
    ensure_path(object, {"metadata", "uid"}) = "uid-workload";
    ensure_path(object, {"metadata", "resourceVersion"}) = "9";
    JsonArray assignments, conditions;
    for (const auto& pod_set : array_at(object, {"spec", "podSets"}))
      assignments.push_back(JsonObject{{"name", string_at(pod_set, {"name"})},
                                       {"count", int_at(pod_set, {"count"})},
                                       {"flavors", JsonObject{{"cpu", "default"}, {"memory", "default"}}}});
    const auto add = [&](const char* type, const char* reason) {
      conditions.push_back(JsonObject{{"type", type},
                                      {"status", "True"},
                                      {"reason", reason},
                                      {"message", ""},
                                      {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
    };
    if (stage >= Stage::kAdmitted) {
      add("QuotaReserved", "QuotaReserved");
      add("Admitted", "Admitted");
      ensure_path(object, {"status", "admission"}) =
          JsonObject{{"clusterQueue", "team"}, {"podSetAssignments", std::move(assignments)}};
    }
    if (stage == Stage::kFinished) add("Finished", "Succeeded");
    ensure_path(object, {"status", "conditions"}) = std::move(conditions);
    return std::make_shared<const Workload>(api::kueue::decode_workload(object).value());
  }
  return nullptr;
}

void single(benchmark::State& state, Stage stage) {
  const auto gated = decode_managed_pod(pod_json(0, "", false), true);
  const auto pod = stage < Stage::kRunning ? gated : decode_managed_pod(pod_json(0, "", true), true);
  std::vector<WorkloadPtr> workloads;
  const JobFacts none = facts_with(nullptr);
  if (stage != Stage::kNew) workloads.push_back(stored(reconcile_pod(gated, {}, none, kNow), stage));
  for (auto _ : state) {
    auto plan = reconcile_pod(pod, workloads, none, kNow);
    benchmark::DoNotOptimize(plan);
  }
}
BENCHMARK_CAPTURE(single, create_its_workload, Stage::kNew);
BENCHMARK_CAPTURE(single, waits, Stage::kWaiting);
BENCHMARK_CAPTURE(single, is_let_go, Stage::kAdmitted);
BENCHMARK_CAPTURE(single, runs, Stage::kRunning);

void group_of_1000(benchmark::State& state, Stage stage) {
  std::vector<ManagedPodPtr> gated, pods;
  for (int i = 0; i < kPods; ++i) {
    gated.push_back(decode_managed_pod(pod_json(i, "gang", false), true));
    pods.push_back(stage < Stage::kRunning ? gated.back() : decode_managed_pod(pod_json(i, "gang", true), true));
  }
  WorkloadPtr workload;
  if (stage != Stage::kNew) workload = stored(reconcile_group("team", "gang", gated, facts_with(nullptr), kNow), stage);
  const JobFacts facts = facts_with(workload);
  for (auto _ : state) {
    auto plan = reconcile_group("team", "gang", pods, facts, kNow);
    benchmark::DoNotOptimize(plan);
  }
  state.SetItemsProcessed(state.iterations() * kPods);
}
BENCHMARK_CAPTURE(group_of_1000, create_its_workload, Stage::kNew)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(group_of_1000, waits, Stage::kWaiting)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(group_of_1000, is_let_go, Stage::kAdmitted)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(group_of_1000, runs, Stage::kRunning)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(group_of_1000, is_finished, Stage::kFinished)->Unit(benchmark::kMicrosecond);

void decode(benchmark::State& state) {
  const Json pod = pod_json(0, "gang", false);
  for (auto _ : state) {
    auto decoded = decode_managed_pod(pod, true);
    benchmark::DoNotOptimize(decoded);
  }
}
BENCHMARK(decode);

// What the webhook does with a new pod.
void default_and_validate(benchmark::State& state) {
  Json given = pod_json(0, "gang", false);
  given.at("spec").as_object().erase("schedulingGates");
  for (auto _ : state) {
    Json pod = given;
    api::kueue::default_pod(pod, {});
    auto errors = api::kueue::validate_pod(pod, {});
    benchmark::DoNotOptimize(errors);
  }
}
BENCHMARK(default_and_validate);

}  // namespace
}  // namespace berth::jobs
