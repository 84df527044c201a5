#include "cli/migrate/migrate_check.h"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "api/core/devices.h"
#include "api/kueue/job_rules.h"
#include "api/kueue/names.h"
#include "api/kueue/types.h"
#include "api/kueue/unhonoured.h"
#include "api/meta.h"
#include "api/object_condition.h"
#include "controller/feature_gates.h"
#include "controller/gates.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::cli::migrate {
namespace {

using api::kueue::annotation_of;
using api::kueue::label_of;

constexpr std::string_view kMultiKueue = "kueue.x-k8s.io/multikueue";  // controllerName of its checks
constexpr std::size_t kShortName = 63;

bool missing(std::string_view gate) {
  const controller::Gate* known = controller::find_gate(gate);
  return known != nullptr && known->reader.support == controller::GateSupport::kMissing;
}

bool is_condition_true(const Json& object, std::string_view type) {
  return api::object_condition_is_true(object, type);
}

// Whether its job is of a kind that may run on another cluster.
bool may_be_dispatched(const Json& workload) {
  const auto& kinds = jobs::kinds::shipped_job_kinds();
  return std::ranges::any_of(array_at(workload, {"metadata", "ownerReferences"}), [&](const Json& owner) {
    const std::string_view kind = string_at(owner, {"kind"}), version = string_at(owner, {"apiVersion"});
    return (kind == "Job" && version == "batch/v1") || std::ranges::any_of(kinds, [&](const auto& one) {
             return one->dispatch && one->kind == kind && one->api_version() == version;
           });
  });
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i) out += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kShown) out += " and " + std::to_string(names.size() - kShown) + " more";
  return out;
}

class Comparison {
 public:
  explicit Comparison(const ClusterObjects& cluster) : cluster_(cluster) {}

  std::vector<Difference> run() {
    definitions();
    configuration();
    for (const auto& [kind, objects] : cluster_.foreign) {
      for (const Json& object : objects)
        add(Weight::kDiffers, kind, object, "Berth has no such kind: the object stays and has no effect",
            "see to it that nothing depends on it");
    }
    for (const auto& [kind, objects] : cluster_.objects) {
      for (const Json& object : objects) unhonoured(kind, object);
    }
    multi_kueue();
    for (const Json& queue : cluster_.of("ClusterQueue")) cluster_queue(queue);
    for (const Json& workload : cluster_.of("Workload")) {
      if (!is_condition_true(workload, api::kueue::kFinished)) unfinished(workload);
    }
    for (const Json& job : cluster_.jobs) old_queue(job);
    installation();
    std::ranges::stable_sort(out_, {}, [](const Difference& d) { return std::tie(d.weight, d.kind, d.name); });
    return std::move(out_);
  }

 private:
  void add(Weight weight, std::string kind, std::string name, std::string what, std::string to_do) {
    out_.push_back({weight, std::move(kind), std::move(name), std::move(what), std::move(to_do)});
  }
  void add(Weight weight, const std::string& kind, const Json& object, std::string what, std::string to_do) {
    add(weight, kind, api::object_key(object), std::move(what), std::move(to_do));
  }

  void definitions() {
    for (const Json& definition : cluster_.definitions) {
      for (const Json& version : array_at(definition, {"status", "storedVersions"})) {
        if (!version.is_string() || view(version.get_string()) != "v1beta1") continue;
        add(Weight::kNote, "CustomResourceDefinition", definition,
            "objects may be stored as v1beta1, which Berth reads and converts",
            "before a way back to Kueue 0.20, which does not serve v1beta1, write each object once and remove v1beta1 "
            "from status.storedVersions");
      }
    }
  }

  // --feature-gates of Kueue's Deployment.
  controller::FeatureGates gates_of_process() const {
    if (!cluster_.deployment) return {};
    for (const Json& container : array_at(*cluster_.deployment, {"spec", "template", "spec", "containers"})) {
      for (const Json& word : array_at(container, {"args"})) {
        constexpr std::string_view kFlag = "--feature-gates=";
        if (!word.is_string() || !view(word.get_string()).starts_with(kFlag)) continue;
        const auto gates = controller::parse_feature_gates(std::string(view(word.get_string()).substr(kFlag.size())));
        return gates ? *gates : controller::FeatureGates();
      }
    }
    return {};
  }

  void configuration() {
    if (!cluster_.configuration)
      return add(Weight::kNote, "ConfigMap", cluster_.config_map, "it does not exist: no Configuration was checked",
                 "name it with --configmap NAMESPACE/NAME, or give the file to berth config check");
    const controller::FeatureGates of_process = gates_of_process();
    const auto decoded = api::config::read_configuration(cluster_.configuration->text, cluster_.configuration->name);
    const controller::FeatureGates& gates = decoded && of_process.empty() ? decoded->feature_gates : of_process;
    short_names_ = controller::gate_or(gates, "ShortWorkloadNames", false);
    const auto verdict = queues::judge(*cluster_.configuration, of_process);
    if (!verdict.refused.empty())
      add(Weight::kFirst, "Configuration", cluster_.config_map, "Berth does not start with it: " + verdict.refused,
          "change it in the copy that Berth gets");
    for (const auto& setting : verdict.not_honoured)
      add(Weight::kDiffers, "Configuration", cluster_.config_map, setting.line, "see docs/configuration.md");
    for (const std::string& warning : verdict.warnings)
      add(Weight::kNote, "Configuration", cluster_.config_map, warning, "nothing: it has no effect");
  }

  void multi_kueue() {
    for (const Json& check : cluster_.of("AdmissionCheck")) {
      if (string_at(check, {"spec", "controllerName"}) != kMultiKueue) continue;
      const std::vector<std::string> users = queues_with(api::object_key(check));
      if (users.empty()) continue;
      add(Weight::kDiffers, "AdmissionCheck", check,
          "it is a check of MultiKueue: of ClusterQueue " + listed(users) +
              " no pods, StatefulSets, LeaderWorkerSets and elastic jobs run on other clusters, they are Rejected; "
              "kubeconfigs are read from Secrets only",
          "give these a queue without it; see docs/multikueue.md");
    }
  }

  std::vector<std::string> queues_with(const std::string& check) const {
    std::vector<std::string> out;
    for (const Json& queue : cluster_.of("ClusterQueue")) {
      const auto decoded = api::kueue::decode_cluster_queue(queue);
      if (decoded && std::ranges::find(decoded->admission_checks, check, &api::kueue::ClusterQueue::CheckRule::name) !=
                         decoded->admission_checks.end())
        out.push_back(decoded->meta.name);
    }
    return out;
  }

  void cluster_queue(const Json& queue) {
    if (const auto decoded = api::kueue::decode_cluster_queue(queue); !decoded)
      add(Weight::kFirst, "ClusterQueue", queue, "Berth cannot read it: " + decoded.error().message,
          "correct it: until then it admits nothing");
    if (missing("DynamicQuotaOrchestration") && find_path(queue, {"status", "effectiveQuotas"}) != nullptr)
      add(Weight::kFirst, "ClusterQueue", queue,
          "its quota comes from status.effectiveQuotas; Berth decides by spec.resourceGroups",
          "write the quota that shall count into spec.resourceGroups");
  }

  // What admission warns about when such an object is written.
  void unhonoured(const std::string& kind, const Json& object) {
    if (kind == "Workload" && is_condition_true(object, api::kueue::kFinished)) return;
    if (std::string warning = api::kueue::unhonoured_warning(kind, object, nullptr); !warning.empty())
      add(Weight::kDiffers, kind, object, std::move(warning), "see docs/compatibility.md");
  }

  void unfinished(const Json& workload) {
    const auto first = [&](std::string what) {
      add(Weight::kFirst, "Workload", workload, std::move(what),
          "let its job end, or delete it, before Berth takes over");
    };
    if (const auto decoded = api::kueue::decode_workload(workload); !decoded)
      return first("Berth cannot read it: " + decoded.error().message);
    const std::string_view cluster = string_at(workload, {"status", "clusterName"});
    if (!cluster.empty() && !may_be_dispatched(workload))
      first("its job runs in the worker cluster " + std::string(cluster) + ", and Berth has no jobs of its kind there");
    if (missing("ElasticJobsViaWorkloadSlices") &&
        (!annotation_of(workload, api::kueue::kSliceReplacementFor).empty() ||
         !annotation_of(workload, "kueue.x-k8s.io/workload-slice-name").empty()))
      first("it is a slice of an elastic job, which Berth does not resize");
    if (missing("ConcurrentAdmission") && !label_of(workload, "kueue.x-k8s.io/concurrent-admission-parent").empty())
      first("it is a variant of another workload (concurrent admission), which Berth would admit beside it");
    short_name(workload);
    for (const Json& pod_set : array_at(workload, {"spec", "podSets"})) one_pod_set(workload, pod_set);
  }

  void short_name(const Json& workload) {
    if (!short_names_ || string_at(workload, {"metadata", "name"}).size() != kShortName) return;
    for (const Json& owner : array_at(workload, {"metadata", "ownerReferences"})) {
      const auto kind = string_at(owner, {"kind"});
      if (kind != "StatefulSet" && kind != "LeaderWorkerSet") continue;
      add(Weight::kFirst, "Workload", workload,
          "its name may be a short one (gate ShortWorkloadNames); Berth looks for the whole name of the workload of "
          "a " +
              std::string(kind),
          "if the gate is on, let the " + std::string(kind) + " " + std::string(string_at(owner, {"name"})) +
              " end before Berth takes over");
      return;
    }
  }

  void one_pod_set(const Json& workload, const Json& pod_set) {
    const std::string name(string_at(pod_set, {"name"}));
    const Json* spec = find_path(pod_set, {"template", "spec"});
    if (missing("KueueDRAIntegration") && spec != nullptr && api::uses_devices(*spec)) {
      const bool reserved = is_condition_true(workload, api::kueue::kQuotaReserved);
      add(reserved ? Weight::kDiffers : Weight::kFirst, "Workload", workload,
          "pod set " + name + " claims devices: " +
              (reserved ? "it keeps its quota; when it is evicted, it is not admitted again"
                        : "Berth does not admit it"),
          reserved ? "nothing, unless it may be evicted" : "let it be admitted by Kueue first, or keep it there");
    }
    if (missing("TASTopologySpreading") && find_path(pod_set, {"template", "metadata", "annotations",
                                                               "kueue.x-k8s.io/podset-topology-spreading"}) != nullptr)
      add(Weight::kDiffers, "Workload", workload,
          "pod set " + name + " asks for spreading over domains, which has no effect",
          "its pods are placed as close together as they fit");
  }

  // Kueue before 0.15 took the queue from an annotation, too.
  void old_queue(const Json& job) {
    if (annotation_of(job, api::kueue::kQueueLabel).empty() || !label_of(job, api::kueue::kQueueLabel).empty()) return;
    if (is_condition_true(job, "Complete") || is_condition_true(job, "Failed")) return;
    const bool waits = bool_at(job, {"spec", "suspend"});
    add(waits ? Weight::kFirst : Weight::kDiffers, "Job", job,
        "its queue is in the annotation kueue.x-k8s.io/queue-name, which counts no more: " +
            std::string(waits ? "it would lose its workload and its place" : "it runs to its end without a queue"),
        waits ? "give it the label kueue.x-k8s.io/queue-name" : "nothing");
  }

  void installation() {
    for (const Json& webhook : cluster_.webhooks)
      add(Weight::kNote, std::string(string_at(webhook, {"kind"})), webhook,
          "it sends kinds to Kueue that Berth does not serve",
          "delete it when Kueue has stopped (step 2 of docs/migrate-from-kueue.md)");
    if (cluster_.populator)
      add(Weight::kNote, "Deployment", std::string("kueue-populator"), "Berth makes default local queues itself",
          "set defaultLocalQueues in the Configuration (docs/configuration.md), or let it run on");
  }

  const ClusterObjects& cluster_;
  bool short_names_ = false;  // of StatefulSets and LeaderWorkerSets, too
  std::vector<Difference> out_;
};

}  // namespace

std::string_view word(Weight weight) {
  if (weight == Weight::kFirst) return "first";
  return weight == Weight::kDiffers ? "differs" : "note";
}

std::vector<Difference> differences(const ClusterObjects& cluster) { return Comparison(cluster).run(); }

TakenOver taken_over(const ClusterObjects& cluster) {
  TakenOver out;
  for (const Json& workload : cluster.of("Workload")) {
    if (is_condition_true(workload, api::kueue::kFinished)) {
      ++out.finished;
    } else {
      ++(is_condition_true(workload, api::kueue::kAdmitted) ? out.admitted : out.waiting);
    }
  }
  out.queues = cluster.of("ClusterQueue").size() + cluster.of("LocalQueue").size();
  return out;
}

}  // namespace berth::cli::migrate
