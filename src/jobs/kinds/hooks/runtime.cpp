#include "jobs/kinds/hooks/runtime.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace berth::jobs::kinds {
namespace {

constexpr std::string_view kTrainerGroup = "trainer.kubeflow.org";
constexpr std::string_view kStepLabel = "trainer.kubeflow.org/trainjob-ancestor-step";
constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxPatches = 64, kMaxJobs = 64;  // far above what a workload can have
constexpr std::size_t kMaxNamed = 1'000;                // longer lists are appended, not merged by name

const api::GroupVersionResource& resource_of(bool of_cluster) {
  static const api::GroupVersionResource of_all{"trainer.kubeflow.org", "v1alpha1", "clustertrainingruntimes"};
  static const api::GroupVersionResource of_namespace{"trainer.kubeflow.org", "v1alpha1", "trainingruntimes"};
  return of_cluster ? of_all : of_namespace;
}

bool is_object(const Json* value) { return value != nullptr && value->is_object(); }

// A list of objects that all have a name.
bool is_named_list(const Json& list) {
  return list.is_array() && !list.get_array().empty() &&
         std::ranges::all_of(list.get_array(), [](const Json& one) { return !string_at(one, {"name"}).empty(); });
}

void apply_named(JsonArray& target, const JsonArray& patch, int depth) {
  const bool merged = target.size() + patch.size() <= kMaxNamed;
  for (const Json& one : patch) {
    const auto name = string_at(one, {"name"});
    const auto there =
        !merged ? target.end()
                : std::ranges::find_if(target, [&](const Json& old) { return string_at(old, {"name"}) == name; });
    if (there == target.end()) {
      target.push_back(one);
    } else {
      apply_patch(*there, one, depth + 1);
    }
  }
}

bool is_step(const Json& job, std::string_view step) {
  return string_at(job, {"template", "metadata", "labels", kStepLabel}) == step;
}

// The number of nodes of the trainer: that of the job, else that of the runtime. With MPI, the launcher may be one of
// them.
std::optional<std::int64_t> nodes_of(const Json& train_job, const Json& runtime) {
  auto nodes = optional_int_at(train_job, {"spec", "trainer", "numNodes"});
  if (!nodes) nodes = optional_int_at(runtime, {"spec", "mlPolicy", "numNodes"});
  if (nodes && bool_at(runtime, {"spec", "mlPolicy", "mpi", "runLauncherAsNode"}))
    nodes = std::max<std::int64_t>(*nodes - 1, 1);
  return nodes;
}

bool is_number_or_missing(const Json& object, std::initializer_list<std::string_view> path) {
  const Json* value = find_path(object, path);
  return value == nullptr || value->is_null() || value->is_int64();
}

bool is_trainer(const Json& job, bool launched) {
  return launched ? string_at(job, {"name"}) == "node" : is_step(job, "trainer");
}

// What the job says about the container of the trainer.
void override_container(const Json& train_job, Json& job) {
  Json& containers = ensure_path(job, {"template", "spec", "template", "spec", "containers"});
  if (!containers.is_array()) return;
  for (Json& container : containers.get_array()) {
    if (string_at(container, {"name"}) != "node") continue;
    for (const std::string_view part : {"image", "command", "args"}) {
      const Json* given = find_path(train_job, {"spec", "trainer", part});
      if (given != nullptr && !given->is_null()) ensure_path(container, {part}) = *given;
    }
    const Json* resources = find_path(train_job, {"spec", "trainer", "resourcesPerNode"});
    if (is_object(resources)) ensure_path(container, {"resources"}) = *resources;
    const auto& env = array_at(train_job, {"spec", "trainer", "env"});
    if (env.empty()) continue;
    Json& all = ensure_path(container, {"env"});
    if (!all.is_array()) all = JsonArray();
    apply_named(all.get_array(), env, 0);
  }
}

void apply_trainer(const Json& train_job, const Json& runtime, JsonArray& jobs) {
  const bool launched = find_path(runtime, {"spec", "mlPolicy", "mpi"}) != nullptr;
  const auto nodes = nodes_of(train_job, runtime);
  for (Json& job : jobs) {
    if (is_step(job, "trainer") || is_trainer(job, launched)) override_container(train_job, job);
    if (!nodes || !is_trainer(job, launched)) continue;
    ensure_path(job, {"template", "spec", "parallelism"}) = *nodes;
    ensure_path(job, {"template", "spec", "completions"}) = *nodes;
  }
}

void apply_patches(const Json& train_job, JsonArray& jobs) {
  std::size_t count = 0;
  for (const Json& patch : array_at(train_job, {"spec", "runtimePatches"})) {
    if (string_at(patch, {"manager"}) == kOwnManager || ++count > kMaxPatches) continue;
    const auto& patched = array_at(patch, {"trainingRuntimeSpec", "template", "spec", "replicatedJobs"});
    for (const Json& part : patched) {
      const auto name = string_at(part, {"name"});
      const auto job = std::ranges::find_if(jobs, [&](const Json& one) { return string_at(one, {"name"}) == name; });
      const Json* change = find(part, "template");
      if (job != jobs.end() && change != nullptr) apply_patch(ensure_path(*job, {"template"}), *change);
    }
  }
}

}  // namespace

void apply_patch(Json& target, const Json& patch, int depth) {
  if (depth > kMaxDepth) return;
  if (patch.is_object()) {
    if (!target.is_object()) target = JsonObject();
    for (const auto& [key, value] : patch.get_object()) apply_patch(target.get_object()[key], value, depth + 1);
  } else if (is_named_list(patch) && is_named_list(target)) {
    apply_named(target.get_array(), patch.get_array(), depth);
  } else {
    target = patch;
  }
}

Result<JsonArray> replicated_jobs(const Json& train_job, const api::kueue::ObjectGetter& get) {
  const auto group = string_at(train_job, {"spec", "runtimeRef", "apiGroup"}, kTrainerGroup);
  const auto kind = string_at(train_job, {"spec", "runtimeRef", "kind"}, "ClusterTrainingRuntime");
  const std::string name(string_at(train_job, {"spec", "runtimeRef", "name"}));
  const bool of_cluster = kind == "ClusterTrainingRuntime";
  if (group != kTrainerGroup || (!of_cluster && kind != "TrainingRuntime"))
    return fail("unsupported runtime: " + std::string(kind) + "." + std::string(group));
  const auto ns = of_cluster ? std::string_view() : string_at(train_job, {"metadata", "namespace"});
  const JsonPtr runtime = get(resource_of(of_cluster), ns, name);
  if (runtime == nullptr) return fail("runtime '" + name + "' not found");
  JsonArray jobs = array_at(*runtime, {"spec", "template", "spec", "replicatedJobs"});
  if (jobs.size() > kMaxJobs) return fail("runtime '" + name + "' has more jobs than a workload can have");
  if (!is_number_or_missing(*runtime, {"spec", "mlPolicy", "numNodes"}))
    return fail("runtime '" + name + "': spec.mlPolicy.numNodes must be a whole number");
  if (!is_number_or_missing(train_job, {"spec", "trainer", "numNodes"}))
    return fail("spec.trainer.numNodes must be a whole number");
  apply_trainer(train_job, *runtime, jobs);
  apply_patches(train_job, jobs);
  return jobs;
}

}  // namespace berth::jobs::kinds
