// Which jobs are managed, and which run on other clusters.
#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <tuple>

#include "api/config/frameworks.h"
#include "api/config/parts.h"
#include "api/field_error.h"
#include "api/kueue/pod_names.h"
#include "base/text.h"

namespace berth::api::config {
namespace {

constexpr std::string_view kNamespaceNameLabel = "kubernetes.io/metadata.name";
constexpr std::string_view kSystemNamespace = "kube-system";

// All frameworks of Kueue, by their names in the configuration.
constexpr std::string_view kFrameworks[] = {
    kueue::kJobFramework,
    kueue::kDeploymentFramework,
    "jobset.x-k8s.io/jobset",
    "kubeflow.org/jaxjob",
    "kubeflow.org/mpijob",
    "kubeflow.org/paddlejob",
    "kubeflow.org/pytorchjob",
    "kubeflow.org/tfjob",
    "kubeflow.org/xgboostjob",
    kueue::kLeaderWorkerSetFramework,
    kueue::kPodFramework,
    "ray.io/raycluster",
    "ray.io/rayjob",
    "ray.io/rayservice",
    "sparkoperator.k8s.io/sparkapplication",
    kueue::kStatefulSetFramework,
    "trainer.kubeflow.org/trainjob",
    "workload.codeflare.dev/appwrapper",
};

std::string all_frameworks() {
  std::string out;
  for (const auto& framework : kFrameworks) out.append(out.empty() ? "" : ", ").append(framework);
  return out;
}

void read_frameworks(Fields& fields, std::vector<std::string>& out) {
  std::vector<std::string> names;
  fields.texts("frameworks", names);
  if (names.empty()) return;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string at = index_path("frameworks", i);
    if (!is_framework(names[i])) {
      fields.expected(at, Json(names[i]), "one of " + all_frameworks());
    } else if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
               names.begin() + static_cast<std::ptrdiff_t>(i)) {
      fields.error(at, "lists " + names[i] + " again; remove it");
    }
  }
  const auto lists = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  for (const std::string_view framework :
       {kueue::kDeploymentFramework, kueue::kStatefulSetFramework, kueue::kLeaderWorkerSetFramework}) {
    if (lists(framework) && !lists(kueue::kPodFramework))
      fields.error("frameworks", "lists " + std::string(framework) + ", which needs " +
                                     std::string(kueue::kPodFramework) + "; add it");
  }
  out = std::move(names);
}

// The resource of a kind by the usual rule for English plurals: jobs, proxies, meshes.
std::string plural_of(std::string_view kind) {
  std::string name = to_lower(kind);
  if (name.ends_with('s')) return name + "es";
  if (name.ends_with('y')) return name.substr(0, name.size() - 1) + "ies";
  return name + "s";
}

// "Kind.version.group"
std::optional<OwnerKind> external_kind(std::string_view text) {
  const std::size_t first = text.find('.'), second = text.find('.', std::min(first, text.size() - 1) + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return std::nullopt;
  const std::string kind(text.substr(0, first)), version(text.substr(first + 1, second - first - 1)),
      group(text.substr(second + 1));
  const std::string plural = plural_of(kind);
  if (!check_dns_label(plural).empty() || !check_dns_label(version).empty() || !check_dns_subdomain(group).empty())
    return std::nullopt;
  return OwnerKind{{group, version, plural}, kind};
}

void read_external_frameworks(Fields& fields, std::vector<OwnerKind>& out) {
  std::vector<std::string> names;
  fields.texts("externalFrameworks", names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string at = index_path("externalFrameworks", i);
    const auto kind = external_kind(names[i]);
    if (!kind) {
      fields.expected(at, Json(names[i]), "Kind.version.group, such as Workflow.v1alpha1.argoproj.io");
    } else if (std::ranges::find(out, *kind) != out.end()) {
      fields.error(at, "lists " + names[i] + " again; remove it");
    } else {
      out.push_back(*kind);
    }
  }
}

void read_integration_fields(Fields fields, Version version, Configuration& out) {
  read_frameworks(fields, out.frameworks);
  read_external_frameworks(fields, out.external_frameworks);
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

constexpr std::string_view kAllAtOnce = "kueue.x-k8s.io/multikueue-dispatcher-all-at-once";
constexpr std::string_view kIncremental = "kueue.x-k8s.io/multikueue-dispatcher-incremental";

void read_dispatcher(Fields& fields, MultiKueue& out) {
  std::string dispatcher(kAllAtOnce);
  fields.text("dispatcherName", dispatcher);
  out.incremental = dispatcher == kIncremental;
  out.external = dispatcher != kAllAtOnce && !out.incremental && !dispatcher.empty();
  Fields steps = fields.object("incrementalDispatcherConfig");
  steps.number("stepSize", out.step_size, 1);
  steps.done();
  if (steps.present() && !out.incremental)
    fields.error("incrementalDispatcherConfig", "expected only with dispatcherName " + std::string(kIncremental));
}

void read_multi_kueue(Fields fields, MultiKueue& out) {
  fields.duration("gcInterval", out.gc_interval);
  fields.duration("workerLostTimeout", out.worker_lost_timeout);
  std::string origin;
  fields.text("origin", origin);
  if (const std::string broken = check_label_value(origin); !broken.empty()) fields.error("origin", broken);
  if (!origin.empty()) out.origin = std::move(origin);
  read_dispatcher(fields, out);
  if (fields.take("externalFrameworks") != nullptr)
    fields.findings().missing(fields.path_of("externalFrameworks"),
                              "the description of a kind says how it runs on other clusters (docs/job-kinds.md)");
  if (fields.take("clusterProfile") != nullptr)
    fields.findings().missing(fields.path_of("clusterProfile"), "kubeconfigs are in Secrets");
  fields.done();
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

bool is_framework(std::string_view name) { return std::ranges::find(kFrameworks, name) != std::end(kFrameworks); }

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
  Fields kinds = top.object("jobKinds");
  kinds.text("directory", out.job_kinds_directory);
  kinds.done();
  read_multi_kueue(top.object("multiKueue"), out.multi_kueue);
  if (version == Version::kV1beta1) read_queue_visibility(top.object("queueVisibility"));
}

}  // namespace berth::api::config
