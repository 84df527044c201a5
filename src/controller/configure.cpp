#include "controller/configure.h"

#include <algorithm>
#include <iterator>

#include "api/kueue/pod_names.h"
#include "jobs/devices/workload_charge.h"
#include "jobs/kinds/kind_rules.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::controller {

namespace {

// Workloads get the labels and annotations of their jobs by which metrics divide them.
void take_custom_labels(const std::vector<api::config::CustomLabel>& labels, ControllerOptions& out) {
  out.custom_metric_labels = labels;
  for (const auto& label : labels) {
    if (label.kind != api::config::CustomLabel::Kind::kWorkload) continue;
    auto& keys = label.from_annotation ? out.annotation_keys_to_copy : out.label_keys_to_copy;
    if (std::ranges::find(keys, label.key) == keys.end()) keys.push_back(label.key);
  }
}

// Why Kueue refuses this combination of waitForPodsReady.unscheduledTimeout and its gates; "": it does not.
std::string scheduling_refused(const api::config::Configuration& c, const FeatureGates& gates) {
  const bool on = gate_or(gates, "WaitForPodsReadyUnscheduledTimeout", false);
  if (c.wait_for_pods_ready.unscheduled_timeout && !on)
    return "waitForPodsReady.unscheduledTimeout: needs the feature gate WaitForPodsReadyUnscheduledTimeout; set it to "
           "true, or remove the field";
  if (on && gate_or(gates, "DisableWaitForPodsReady", false))
    return "feature gates WaitForPodsReadyUnscheduledTimeout and DisableWaitForPodsReady: both are true; set one of "
           "them to false";
  return "";
}

jobs::devices::Rules device_rules(const api::config::Configuration& c, const jobs::JobGates& gates) {
  jobs::devices::Rules out;
  out.enabled = gates.count_devices;
  out.extended_resources = gates.extended_devices;
  out.counters = gates.device_counters;
  out.capacities = gates.device_capacities;
  out.prioritized_lists = gates.device_alternatives;
  out.places = out.enabled && gates.device_places;
  out.taints = gates.device_taints;
  out.mappings = c.device_class_mappings;
  return out;
}

}  // namespace

Result<ControllerOptions> controller_options(const api::config::Configuration& c, const FeatureGates& command_line) {
  if (!c.feature_gates.empty() && !command_line.empty())
    return fail(
        "featureGates: given in the Configuration file and on the command line (--feature-gates); use one of them");
  ControllerOptions out;
  out.engine.wait_for_pods_ready = c.wait_for_pods_ready;
  out.engine.retention = c.workload_retention;
  out.engine.resources = c.resources;
  out.engine.fair_sharing = c.fair_sharing;
  out.engine.admission_fair_sharing = c.admission_fair_sharing;
  out.engine.topology_waits = c.topology;
  out.manage_jobs_without_queue_name = c.manage_jobs_without_queue_name;
  const auto lists = [&](std::string_view name) { return std::ranges::find(c.frameworks, name) != c.frameworks.end(); };
  out.manage_jobs = lists(api::kueue::kJobFramework);
  for (const auto& kind : jobs::kinds::shipped_job_kinds()) out.kinds.push_back({kind, lists(kind->framework)});
  out.external_kinds = c.external_frameworks;
  out.compare_kinds = true;
  out.manage_pods = lists(api::kueue::kPodFramework);
  out.manage_deployments = lists(api::kueue::kDeploymentFramework);
  out.manage_stateful_sets = lists(api::kueue::kStatefulSetFramework);
  out.manage_leader_worker_sets = lists(api::kueue::kLeaderWorkerSetFramework);
  out.managed_namespaces = c.managed_jobs_namespaces;
  out.label_keys_to_copy = c.label_keys_to_copy;
  out.ownerless_workloads = c.ownerless_workloads;
  out.expected_start_events = c.expected_start_events;
  out.multikueue.ns = c.ns;
  out.multikueue.origin = c.multi_kueue.origin;
  out.multikueue.gc_interval = c.multi_kueue.gc_interval;
  out.multikueue.dispatch.lost_timeout = c.multi_kueue.worker_lost_timeout;
  out.multikueue.dispatch.step_size = c.multi_kueue.step_size;
  if (c.multi_kueue.external) out.multikueue.dispatch.dispatcher = multikueue::Dispatcher::kExternal;
  if (c.multi_kueue.incremental) out.multikueue.dispatch.dispatcher = multikueue::Dispatcher::kIncremental;
  out.volcano = c.volcano;
  out.default_local_queues = c.default_local_queues;
  const bool from_file = command_line.empty();
  const auto applied = apply_feature_gates(from_file ? c.feature_gates : command_line, out.engine, out.jobs,
                                           from_file ? "featureGates" : "");
  if (!applied) return tl::unexpected(applied.error());
  const FeatureGates& gates = from_file ? c.feature_gates : command_line;
  out.engine.wait_for_pods_ready.times_of_workloads =
      out.jobs.ready_times && !gate_or(gates, "DisableWaitForPodsReady", false);
  if (const std::string why = scheduling_refused(c, gates); !why.empty()) return fail(why);
  out.devices = device_rules(c, out.jobs);
  if (const auto fine = jobs::devices::Charges::check(out.devices); !fine) return tl::unexpected(fine.error());
  out.not_honoured = c.not_honoured;
  if (c.wait_for_pods_ready.max_timeout_on_workload != api::config::WaitForPodsReady().max_timeout_on_workload &&
      !out.jobs.ready_times)
    out.not_honoured.push_back({"waitForPodsReady.maxTimeoutOnWorkload",
                                "waitForPodsReady.maxTimeoutOnWorkload: has no effect without the feature gate "
                                "WorkloadLevelWaitForPodsReady"});
  std::ranges::move(not_honoured(gates, from_file ? "featureGates" : ""), std::back_inserter(out.not_honoured));
  out.pending_workloads_api = gate_or(gates, kVisibilityGate, true);
  if (gate_or(gates, kCustomLabelsGate, false))
    take_custom_labels(c.metrics.custom_labels, out);
  else if (!c.metrics.custom_labels.empty())
    out.not_honoured.push_back(
        {"metrics.customLabels", "metrics.customLabels: has no effect without the feature gate CustomMetricLabels"});
  return out;
}

ControllerMetricsOptions metrics_options(const api::config::Configuration& c, const ControllerOptions& options) {
  return {c.leader_election.leader_elect ? "leader" : "standalone", c.metrics.enable_cluster_queue_resources,
          c.metrics.local_queue_metrics, options.custom_metric_labels, c.metrics.local_queue_selector};
}

api::kueue::AdmissionPolicy admission_policy(const ControllerOptions& options) {
  api::kueue::AdmissionPolicy policy;
  policy.manage_jobs_without_queue_name = options.manage_jobs_without_queue_name;
  policy.manage_jobs = options.manage_jobs;
  for (const auto& kind : options.kinds) policy.kinds.push_back(jobs::kinds::rules_of(kind.description, kind.managed));
  for (const auto& kind : options.external_kinds)
    policy.kinds.push_back({kind.resource, kind.kind, "", true, api::kueue::AdmissionRules()});
  policy.manage_pods = options.manage_pods;
  policy.manage_deployments = options.manage_deployments;
  policy.manage_stateful_sets = options.manage_stateful_sets;
  policy.manage_leader_worker_sets = options.manage_leader_worker_sets;
  policy.partial_admission = options.engine.partial_admission;
  policy.priority_boost = options.engine.priority_boost;
  policy.check_ray_upgrades = options.jobs.check_ray_upgrades;
  policy.labels.identifier_annotations = options.jobs.identifier_annotations;
  if (options.jobs.ready_times)
    policy.labels.longest_ready_time = options.engine.wait_for_pods_ready.max_timeout_on_workload;
  policy.labels.elastic_jobs = options.engine.elastic_jobs;
  policy.labels.refuse_false_unconstrained = options.jobs.refuse_false_unconstrained;
  policy.dispatch_jobs = options.jobs.multikueue;
  policy.labels.check_spreading = options.engine.topology.spreading;
  return policy;
}

}  // namespace berth::controller
