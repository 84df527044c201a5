#include "embedded/simulate/load_objects.h"

#include <string_view>

#include "api/core/node_labels.h"
#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/kueue/pod_rules.h"
#include "api/kueue/types.h"
#include "api/resources.h"

namespace berth::simulate {
namespace {

constexpr std::string_view kKueue = "kueue.x-k8s.io/v1beta2";
constexpr std::int64_t kPodsPerNode = 110;  // a kubelet's default

std::string priority_class_name(std::int32_t priority) {
  return priority < 0 ? "priority-minus-" + std::to_string(-static_cast<std::int64_t>(priority))
                      : "priority-" + std::to_string(priority);
}

Json node_of(const LoadLayout& layout, const std::string& name, const JsonObject& domains) {
  JsonObject labels = domains;
  labels[api::kHostnameLabel] = name;
  if (!layout.flavor_label.empty()) labels[layout.flavor_label] = layout.flavor;
  const Json resources = JsonObject{
      {"cpu", layout.cpu.to_string()}, {"memory", layout.memory.to_string()}, {"pods", std::to_string(kPodsPerNode)}};
  return JsonObject{{"apiVersion", "v1"},
                    {"kind", "Node"},
                    {"metadata", JsonObject{{"name", name}, {"labels", std::move(labels)}}},
                    {"status", JsonObject{{"capacity", resources}, {"allocatable", resources}}}};
}

void add_nodes(const LoadLayout& layout, std::size_t level, const std::string& path, const JsonObject& domains,
               std::vector<Json>& nodes) {
  if (level == layout.levels.size()) return nodes.push_back(node_of(layout, path, domains));
  const LoadLevel& here = layout.levels[level];
  for (std::int64_t i = 0; i < here.count; ++i) {
    const std::string name = (path.empty() ? "" : path + "-") + here.name + "-" + std::to_string(i);
    JsonObject inside = domains;
    inside[here.label] = name;
    add_nodes(layout, level + 1, name, inside, nodes);
  }
}

JsonArray pod_containers(const LoadKind& kind) {
  return JsonArray{JsonObject{{"name", "main"},
                              {"image", "example.com/load"},
                              {"resources", JsonObject{{"requests", JsonObject{{"cpu", kind.request.to_string()}}}}}}};
}

// What tells Berth where the pods run, and the pretend cluster for how long.
JsonObject pod_annotations(const LoadKind& kind) {
  JsonObject annotations{{"berth.dev/run-for", format_duration(kind.runtime)}};
  switch (kind.topology) {
    case LoadKind::Topology::kNone:
      break;
    case LoadKind::Topology::kRequired:
      annotations[api::kueue::kRequiredTopology] = kind.level;
      break;
    case LoadKind::Topology::kPreferred:
      annotations[api::kueue::kPreferredTopology] = kind.level;
      break;
    case LoadKind::Topology::kSlices:
      annotations[api::kueue::kSliceRequiredTopology] = kind.level;
      if (kind.slice_size > 0) annotations[api::kueue::kSliceSize] = std::to_string(kind.slice_size);
      break;
  }
  return annotations;
}

JsonObject queue_labels(const LoadKind& kind, const LoadQueue& queue) {
  return {{api::kueue::kQueueLabel, queue.name}, {api::kueue::kPriorityClassLabel, priority_class_name(kind.priority)}};
}

}  // namespace

std::vector<Json> load_nodes(const LoadLayout& layout) {
  std::vector<Json> nodes;
  add_nodes(layout, 0, {}, {}, nodes);
  return nodes;
}

Json load_topology(const LoadLayout& layout) {
  JsonArray levels;
  for (const auto& level : layout.levels) levels.push_back(JsonObject{{"nodeLabel", level.label}});
  return JsonObject{{"apiVersion", kKueue},
                    {"kind", "Topology"},
                    {"metadata", JsonObject{{"name", layout.topology}}},
                    {"spec", JsonObject{{"levels", std::move(levels)}}}};
}

Json load_flavor(const LoadLayout& layout) {
  JsonObject spec;
  if (!layout.flavor_label.empty()) spec["nodeLabels"] = JsonObject{{layout.flavor_label, layout.flavor}};
  if (layout.flavor_in_topology) spec["topologyName"] = layout.topology;
  return JsonObject{{"apiVersion", kKueue},
                    {"kind", "ResourceFlavor"},
                    {"metadata", JsonObject{{"name", layout.flavor}}},
                    {"spec", std::move(spec)}};
}

std::vector<Json> load_queue(const LoadQueue& queue, const LoadPreemption& preemption, const std::string& flavor) {
  JsonObject cpu{{"name", "cpu"}, {"nominalQuota", queue.nominal.to_string()}};
  if (queue.borrowing_limit) cpu["borrowingLimit"] = queue.borrowing_limit->to_string();
  const Json group =
      JsonObject{{"coveredResources", JsonArray{"cpu"}},
                 {"flavors", JsonArray{JsonObject{{"name", flavor}, {"resources", JsonArray{std::move(cpu)}}}}}};
  return {JsonObject{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", JsonObject{{"name", queue.name}}}},
          JsonObject{
              {"apiVersion", kKueue},
              {"kind", "ClusterQueue"},
              {"metadata", JsonObject{{"name", queue.name}}},
              {"spec", JsonObject{{"cohortName", queue.cohort},
                                  {"namespaceSelector", JsonObject()},
                                  {"preemption", JsonObject{{"reclaimWithinCohort", preemption.reclaim_within_cohort},
                                                            {"withinClusterQueue", preemption.within_cluster_queue}}},
                                  {"resourceGroups", JsonArray{group}}}}},
          JsonObject{{"apiVersion", kKueue},
                     {"kind", "LocalQueue"},
                     {"metadata", JsonObject{{"name", queue.name}, {"namespace", queue.name}}},
                     {"spec", JsonObject{{"clusterQueue", queue.name}}}}};
}

Json load_priority_class(std::int32_t priority) {
  return JsonObject{{"apiVersion", kKueue},
                    {"kind", "WorkloadPriorityClass"},
                    {"metadata", JsonObject{{"name", priority_class_name(priority)}}},
                    {"value", priority}};
}

api::GroupVersionResource load_resource(std::string_view kind) {
  if (kind == "Namespace") return {"", "v1", "namespaces"};
  if (kind == "Event") return {"", "v1", "events"};
  if (kind == "Job") return {"batch", "v1", "jobs"};
  if (kind == "Pod") return api::kPods;
  if (kind == "JobSet") return {"jobset.x-k8s.io", "v1alpha2", "jobsets"};
  const std::string_view plural = kind == "ClusterQueue"     ? "clusterqueues"
                                  : kind == "LocalQueue"     ? "localqueues"
                                  : kind == "ResourceFlavor" ? "resourceflavors"
                                  : kind == "Topology"       ? "topologies"
                                  : kind == "Workload"       ? "workloads"
                                                             : "workloadpriorityclasses";
  return {std::string(api::kueue::kGroup), std::string(api::kueue::kVersion), std::string(plural)};
}

Json workload_of(const Load& load, const Submission& submission) {
  const LoadKind& kind = load.kinds[submission.kind];
  const LoadQueue& queue = load.queues[submission.queue];
  JsonObject pod_set{
      {"name", "main"},
      {"count", kind.pods},
      {"template", JsonObject{{"spec", JsonObject{{"restartPolicy", "Never"}, {"containers", pod_containers(kind)}}}}}};
  switch (kind.topology) {
    case LoadKind::Topology::kNone:
      break;
    case LoadKind::Topology::kRequired:
      pod_set["topologyRequest"] = JsonObject{{"required", kind.level}};
      break;
    case LoadKind::Topology::kPreferred:
      pod_set["topologyRequest"] = JsonObject{{"preferred", kind.level}};
      break;
    case LoadKind::Topology::kSlices:
      JsonObject request{{"podSetSliceRequiredTopology", kind.level}};
      if (kind.slice_size > 0) request["podSetSliceSize"] = kind.slice_size;
      pod_set["topologyRequest"] = std::move(request);
      break;
  }
  return JsonObject{
      {"apiVersion", kKueue},
      {"kind", "Workload"},
      {"metadata", JsonObject{{"name", submission.name}, {"namespace", queue.name}}},
      {"spec",
       JsonObject{{"queueName", queue.name}, {"priority", kind.priority}, {"podSets", JsonArray{std::move(pod_set)}}}}};
}

Json job_of(const Load& load, const Submission& submission) {
  const LoadKind& kind = load.kinds[submission.kind];
  const LoadQueue& queue = load.queues[submission.queue];
  JsonObject annotations = pod_annotations(kind);
  const JsonObject labels = queue_labels(kind, queue);
  return JsonObject{
      {"apiVersion", "batch/v1"},
      {"kind", "Job"},
      {"metadata", JsonObject{{"name", submission.name}, {"namespace", queue.name}, {"labels", labels}}},
      {"spec", JsonObject{{"suspend", true},
                          {"parallelism", kind.pods},
                          {"completions", kind.pods},
                          {"template", JsonObject{{"metadata", JsonObject{{"annotations", std::move(annotations)}}},
                                                  {"spec", JsonObject{{"restartPolicy", "Never"},
                                                                      {"containers", pod_containers(kind)}}}}}}}};
}

Json job_set_of(const Load& load, const Submission& submission) {
  const LoadKind& kind = load.kinds[submission.kind];
  const LoadQueue& queue = load.queues[submission.queue];
  LoadKind half = kind;
  half.request = Quantity::of_milli((kind.request.milli_value() + 1) / 2);
  JsonArray jobs;
  for (const std::string_view name : {"first", "second"}) {
    Json job = JsonObject{{"name", name}};
    ensure_path(job, {"template", "spec"}) = JsonObject{
        {"parallelism", kind.pods},
        {"completions", kind.pods},
        {"template",
         JsonObject{{"metadata", JsonObject{{"annotations", pod_annotations(half)}}},
                    {"spec", JsonObject{{"restartPolicy", "Never"}, {"containers", pod_containers(half)}}}}}};
    jobs.push_back(std::move(job));
  }
  return JsonObject{
      {"apiVersion", "jobset.x-k8s.io/v1alpha2"},
      {"kind", "JobSet"},
      {"metadata",
       JsonObject{{"name", submission.name}, {"namespace", queue.name}, {"labels", queue_labels(kind, queue)}}},
      {"spec", JsonObject{{"suspend", true}, {"replicatedJobs", std::move(jobs)}}}};
}

Json pod_of(const Load& load, const Submission& submission, std::size_t index, std::size_t attempt) {
  const LoadKind& kind = load.kinds[submission.kind];
  const LoadQueue& queue = load.queues[submission.queue];
  JsonObject labels = queue_labels(kind, queue), annotations = pod_annotations(kind);
  std::string name = submission.name;
  if (kind.pods > 1) {
    labels[api::kueue::kPodGroupName] = submission.name;
    labels[api::kueue::kPodGroupPodIndex] = std::to_string(index);
    annotations[api::kueue::kPodGroupTotalCount] = std::to_string(kind.pods);
    name += "-" + std::to_string(index);
    if (attempt > 0) name += "-" + std::to_string(attempt);  // the deleted pod may still exist
  }
  Json pod = JsonObject{{"apiVersion", "v1"},
                        {"kind", "Pod"},
                        {"metadata", JsonObject{{"name", std::move(name)},
                                                {"namespace", queue.name},
                                                {"labels", std::move(labels)},
                                                {"annotations", std::move(annotations)}}},
                        {"spec", JsonObject{{"restartPolicy", "Never"}, {"containers", pod_containers(kind)}}}};
  api::kueue::default_pod(pod, {});
  return pod;
}

}  // namespace berth::simulate
