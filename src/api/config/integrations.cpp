// Which jobs are managed; frameworks and MultiKueue settings that Berth does not support.
#include <algorithm>
#include <string_view>
#include <tuple>

#include "api/config/parts.h"
#include "api/field_error.h"
#include "api/kueue/pod_names.h"

namespace berth::api::config {
namespace {

constexpr std::string_view kNamespaceNameLabel = "kubernetes.io/metadata.name";
constexpr std::string_view kSystemNamespace = "kube-system";
constexpr std::string_view kJob = "batch/job";

struct Framework {
  std::string_view name;
  bool managed;  // Berth manages its jobs
};
// All frameworks of Kueue, by their names in the configuration.
constexpr Framework kFrameworks[] = {
    {kJob, true},
    {kueue::kDeploymentFramework, true},
    {"jobset.x-k8s.io/jobset", false},
    {"kubeflow.org/jaxjob", false},
    {"kubeflow.org/mpijob", false},
    {"kubeflow.org/paddlejob", false},
    {"kubeflow.org/pytorchjob", false},
    {"kubeflow.org/tfjob", false},
    {"kubeflow.org/xgboostjob", false},
    {kueue::kLeaderWorkerSetFramework, true},
    {kueue::kPodFramework, true},
    {"ray.io/raycluster", false},
    {"ray.io/rayjob", false},
    {"ray.io/rayservice", false},
    {"sparkoperator.k8s.io/sparkapplication", false},
    {kueue::kStatefulSetFramework, true},
    {"trainer.kubeflow.org/trainjob", false},
    {"workload.codeflare.dev/appwrapper", false},
};

std::string all_frameworks() {
  std::string out;
  for (const auto& framework : kFrameworks) out.append(out.empty() ? "" : ", ").append(framework.name);
  return out;
}

void read_frameworks(Fields& fields, std::vector<std::string>& out) {
  std::vector<std::string> names;
  fields.texts("frameworks", names);
  if (names.empty()) return;
  std::vector<std::string> managed;
  std::string not_managed;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string at = index_path("frameworks", i);
    const auto* known = std::ranges::find(kFrameworks, names[i], &Framework::name);
    if (known == std::end(kFrameworks)) {
      fields.expected(at, Json(names[i]), "one of " + all_frameworks());
    } else if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
               names.begin() + static_cast<std::ptrdiff_t>(i)) {
      fields.error(at, "lists " + names[i] + " again; remove it");
    } else if (known->managed) {
      managed.push_back(names[i]);
    } else {
      not_managed.append(not_managed.empty() ? "" : ", ").append(names[i]);
    }
  }
  if (std::ranges::find(managed, kJob) == managed.end())
    return fields.error("frameworks", "does not list " + std::string(kJob) + ", which Berth always manages; add it");
  for (const std::string_view framework :
       {kueue::kDeploymentFramework, kueue::kStatefulSetFramework, kueue::kLeaderWorkerSetFramework}) {
    if (std::ranges::find(managed, framework) != managed.end() &&
        std::ranges::find(managed, kueue::kPodFramework) == managed.end())
      fields.error("frameworks", "lists " + std::string(framework) + ", which needs " +
                                     std::string(kueue::kPodFramework) + "; add it");
  }
  if (!not_managed.empty())
    fields.findings().warn(fields.path_of("frameworks"),
                           "Berth does not manage these yet and leaves their objects alone: " + not_managed);
  out = std::move(managed);
}

void read_integration_fields(Fields fields, Version version, Configuration& out) {
  read_frameworks(fields, out.frameworks);
  std::vector<std::string> external;
  fields.texts("externalFrameworks", external);
  if (!external.empty()) fields.error("externalFrameworks", "Berth does not look for owners of other kinds; remove it");
  fields.texts("labelKeysToCopy", out.label_keys_to_copy);
  for (std::size_t i = 0; i < out.label_keys_to_copy.size(); ++i) {
    if (const auto broken = check_qualified_name(out.label_keys_to_copy[i]); !broken.empty())
      fields.expected(index_path("labelKeysToCopy", i), Json(out.label_keys_to_copy[i]),
                      "the key of a label: " + broken);
  }
  if (version == Version::kV1beta1) {
    Fields pods = fields.object("podOptions");
    std::optional<LabelSelector> ignored;
    pods.selector("namespaceSelector", ignored);
    pods.selector("podSelector", ignored);
    pods.done();
    if (pods.present())
      pods.findings().warn(pods.path(), "has no effect: managedJobsNamespaceSelector selects the namespaces of pods");
  }
  fields.done();
}

void read_managed_namespaces(Fields& top, Configuration& out) {
  std::optional<LabelSelector> selector;
  top.selector("managedJobsNamespaceSelector", selector);
  out.managed_jobs_namespaces = Configuration::default_managed_namespaces(out.ns);
  if (!selector) return;
  for (const std::string_view ns : {kSystemNamespace, std::string_view(out.ns)}) {
    if (selector->matches(JsonObject{{kNamespaceNameLabel, ns}}))
      top.error("managedJobsNamespaceSelector", "matches the namespace " + std::string(ns) +
                                                    ", expected to leave it out (" + std::string(kNamespaceNameLabel) +
                                                    " NotIn ...)");
  }
  out.managed_jobs_namespaces = std::move(*selector);
}

// Berth does not dispatch to other clusters: only the default values are allowed.
void read_multi_kueue(Fields fields) {
  Duration interval = std::chrono::minutes(1), lost = std::chrono::minutes(15);
  std::string origin = "multikueue", dispatcher = "kueue.x-k8s.io/multikueue-dispatcher-all-at-once";
  const auto untouched = [same = std::tuple(interval, lost, origin, dispatcher)](const auto&... values) {
    return same == std::tuple(values...);
  };
  fields.duration("gcInterval", interval);
  fields.duration("workerLostTimeout", lost);
  fields.text("origin", origin);
  fields.text("dispatcherName", dispatcher);
  bool more = false;
  for (const auto name : {"externalFrameworks", "clusterProfile", "incrementalDispatcherConfig"})
    more |= fields.take(name) != nullptr;
  fields.done();
  if (more || !untouched(interval, lost, origin, dispatcher))
    fields.findings().error(fields.path(), "Berth does not dispatch to other clusters; remove it");
}

void read_queue_visibility(Fields fields) {
  constexpr std::int64_t kMostShown = 4000;
  std::int32_t ignored = 0;
  Fields queues = fields.object("clusterQueues");
  queues.number("maxCount", ignored, 0, kMostShown);
  queues.done();
  fields.number("updateIntervalSeconds", ignored, 1);
  fields.done();
  if (fields.present())
    fields.findings().warn(fields.path(), "has no effect: ask the visibility API for pending workloads");
}

}  // namespace

LabelSelector Configuration::default_managed_namespaces(std::string_view ns) {
  JsonArray names{Json(kSystemNamespace)};
  if (ns != kSystemNamespace && check_dns_label(ns).empty()) names.emplace_back(ns);  // no other name can exist
  return *LabelSelector::from_json(JsonObject{
      {"matchExpressions",
       JsonArray{JsonObject{{"key", kNamespaceNameLabel}, {"operator", "NotIn"}, {"values", std::move(names)}}}}});
}

void read_integrations(Fields& top, Version version, Configuration& out) {
  top.flag("manageJobsWithoutQueueName", out.manage_jobs_without_queue_name);
  read_managed_namespaces(top, out);
  read_integration_fields(top.object("integrations"), version, out);
  read_multi_kueue(top.object("multiKueue"));
  if (version == Version::kV1beta1) read_queue_visibility(top.object("queueVisibility"));
}

}  // namespace berth::api::config
