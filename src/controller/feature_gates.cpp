#include "controller/feature_gates.h"

#include <algorithm>

namespace berth::controller {
namespace {

struct Gate {
  std::string_view name;
  bool& (*setting)(engine::Options&);
  std::string_view parent;  // must be on when this one is; "" none
  bool on = true;           // the setting's value while the gate is on
  bool follows = false;     // a gate that is not named is off when its parent is off
};

// In order of name.
constexpr Gate kGates[] = {
    {"AdmissionFairSharing", [](engine::Options& o) -> bool& { return o.admission_by_usage; }, ""},
    // Berth's own gate; Kueue does not have it.
    {"BerthReplaceSeveralNodes", [](engine::Options& o) -> bool& { return o.replace_several_nodes; }, ""},
    {"DisableWaitForPodsReady", [](engine::Options& o) -> bool& { return o.wait_for_pods_ready.enabled; }, "", false},
    {"FairSharingPreemptWithinNominal", [](engine::Options& o) -> bool& { return o.fair_preempt_within_nominal; }, ""},
    {"FairSharingPrioritizeNonBorrowing", [](engine::Options& o) -> bool& { return o.fair_prioritize_non_borrowing; },
     ""},
    {"FlavorFungibility", [](engine::Options& o) -> bool& { return o.flavor_fungibility; }, ""},
    // Only makes a workload's preemption gates count. Opening them, one cluster after the other, is the task of
    // MultiKueue.
    {"MultiKueueOrchestratedPreemption", [](engine::Options& o) -> bool& { return o.preemption_gates; }, ""},
    {"PartialAdmission", [](engine::Options& o) -> bool& { return o.partial_admission; }, ""},
    {"PrioritizePreemptorWorkloads", [](engine::Options& o) -> bool& { return o.prioritize_preemptors; }, ""},
    {"PriorityBoost", [](engine::Options& o) -> bool& { return o.priority_boost; }, ""},
    {"PrioritySortingWithinCohort", [](engine::Options& o) -> bool& { return o.priority_sorting_within_cohort; }, ""},
    {"ReclaimablePods", [](engine::Options& o) -> bool& { return o.reclaimable_pods; }, ""},
    {"RecomputeAssignmentUponPreemptionTargetsOverlap",
     [](engine::Options& o) -> bool& { return o.recompute_on_overlap; }, ""},
    {"SchedulingEquivalenceHashing", [](engine::Options& o) -> bool& { return o.scheduling_equivalence_hashing; }, ""},
    {"TASBalancedPlacement", [](engine::Options& o) -> bool& { return o.topology.balanced_placement; }, ""},
    {"TASFailedNodeReplacement", [](engine::Options& o) -> bool& { return o.replace_failed_nodes; }, ""},
    {"TASFailedNodeReplacementFailFast", [](engine::Options& o) -> bool& { return o.replace_fail_fast; },
     "TASFailedNodeReplacement"},
    {"TASMultiLayerTopology", [](engine::Options& o) -> bool& { return o.topology.multi_layer; }, ""},
    {"TASProfileMixed", [](engine::Options& o) -> bool& { return o.topology.mixed_profile; }, ""},
    {"TASReplaceNodeOnNodeTaints", [](engine::Options& o) -> bool& { return o.replace_on_taints; }, ""},
    {"TASReplaceNodeOnPodTermination", [](engine::Options& o) -> bool& { return o.replace_on_pod_termination; },
     "TASFailedNodeReplacement"},
    {"UnadmittedWorkloadsExplicitStatus", [](engine::Options& o) -> bool& { return o.unadmitted_explicit_status; },
     "UnadmittedWorkloadsObservability", true, true},
    {"UnadmittedWorkloadsObservability", [](engine::Options& o) -> bool& { return o.unadmitted_observability; }, ""},
};

struct JobGate {
  std::string_view name;
  bool jobs::JobGates::* setting;
};

// In order of name.
constexpr JobGate kJobGates[] = {
    {"FailureRecoveryPolicy", &jobs::JobGates::failure_recovery},
    {"FinishOrphanedWorkloads", &jobs::JobGates::finish_orphaned},
    {"WorkloadIdentifierAnnotations", &jobs::JobGates::identifier_annotations},
};

// Gates of what a process serves: the engine and the jobs do not know them. Read with gate_or().
constexpr std::string_view kServedGates[] = {kCustomLabelsGate, kVisibilityGate};

// Features that are always on in Berth: a gate may be set to true, but not to false.
constexpr std::string_view kAlwaysOn[] = {
    "AdmissionGatedBy",
    "AssignQueueLabelsForPods",
    "KueueDRARejectWorkloadsWhenDRADisabled",
    "SparkApplicationIntegration",
    "TASAssignmentsEncodingByHostnamePrefix",
    "TASHandleOverlappingFlavors",
    "TopologyAwareScheduling",
    "TASRecomputeAssignmentWithinSchedulingCycle",
};

// Gates of Kueue whose features Berth does not have: a gate may be set to false, but not to true.
constexpr std::string_view kAlwaysOff[] = {
    "ConcurrentAdmission",
    "ElasticJobsViaWorkloadSlices",
    "ElasticJobsViaWorkloadSlicesWithTAS",
    "FastQuotaReleaseInPodIntegration",
    "KueueDRAIntegration",
    "KueueDRAIntegrationConsumableCapacity",
    "KueueDRAIntegrationExtendedResource",
    "KueueDRAIntegrationPartitionableDevices",
    "MultiKueue",
    "MultiKueueAdaptersForCustomJobs",
    "MultiKueueClusterProfile",
    "MultiKueueManagerQuotaAutomation",
    "RejectUpdatesToCQWithInvalidOnFlavors",
    "SchedulerLibraryIntegration",
    "ShortWorkloadNames",
    "TASReplaceNodeDueToNotReadyOverFixedTime",
    "TASRespectNodeAffinityPreferred",
    "WorkloadRequestUseMergePatch",
};

const Gate* find_gate(std::string_view name) {
  const auto* found = std::find_if(std::begin(kGates), std::end(kGates), [&](const Gate& g) { return g.name == name; });
  return found == std::end(kGates) ? nullptr : found;
}

const JobGate* find_job_gate(std::string_view name) {
  const auto* found = std::ranges::find(kJobGates, name, &JobGate::name);
  return found == std::end(kJobGates) ? nullptr : found;
}

bool always_on(std::string_view name) {
  return std::find(std::begin(kAlwaysOn), std::end(kAlwaysOn), name) != std::end(kAlwaysOn);
}

bool is_served(std::string_view name) {
  return std::find(std::begin(kServedGates), std::end(kServedGates), name) != std::end(kServedGates);
}

bool always_off(std::string_view name) {
  return std::find(std::begin(kAlwaysOff), std::end(kAlwaysOff), name) != std::end(kAlwaysOff);
}

bool is_on(const Gate& gate, engine::Options& options) { return gate.setting(options) == gate.on; }

std::string unknown() {
  std::string known;
  for (const auto& gate : kGates) known.append(known.empty() ? "" : ", ").append(gate.name);
  for (const auto& gate : kJobGates) known.append(", ").append(gate.name);
  for (const auto& gate : kServedGates) known.append(", ").append(gate);
  return "Berth does not have it; those that can be set are " + known;
}

tl::unexpected<Error> refuse(std::string_view path, std::string_view name, const std::string& why) {
  const std::string gate(name);
  return fail((path.empty() ? "feature gate \"" + gate + "\"" : std::string(path) + "." + gate) + ": " + why);
}

}  // namespace

bool gate_or(const FeatureGates& gates, std::string_view name, bool otherwise) {
  const auto at = gates.find(std::string(name));
  return at == gates.end() ? otherwise : at->second;
}

Result<FeatureGates> parse_feature_gates(std::string_view text) {
  FeatureGates gates;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto part = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const auto equals = part.find('=');
    const auto value = equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    if (equals == 0 || (value != "true" && value != "false"))
      return fail("\"" + std::string(part) + "\": expected NAME=true or NAME=false, separated by commas");
    gates[std::string(part.substr(0, equals))] = value == "true";
  }
  return gates;
}

Result<FeatureGates> decode_feature_gates(const Json& object, std::string_view path) {
  if (!object.is_object()) return fail(std::string(path) + ": expected a mapping of gates to true or false");
  FeatureGates gates;
  for (const auto& [name, value] : object.as_object()) {
    if (!value.is_bool())
      return fail(std::string(path) + "." + std::string(name) + ": expected true or false, it is " + to_string(value));
    gates[std::string(name)] = value.as_bool();
  }
  return gates;
}

Result<void> check_feature_gates(const FeatureGates& gates, std::string_view path) {
  for (const auto& [name, on] : gates) {
    if (find_gate(name) != nullptr || find_job_gate(name) != nullptr || is_served(name)) continue;
    if (always_off(name)) {
      if (on) return refuse(path, name, "Berth does not have its feature; leave it out or set it to false");
    } else if (!always_on(name)) {
      return refuse(path, name, unknown());
    } else if (!on) {
      return refuse(path, name, "is always on in Berth; leave it out");
    }
  }
  return {};
}

Result<void> apply_feature_gates(const FeatureGates& gates, engine::Options& options, jobs::JobGates& job_gates,
                                 std::string_view path) {
  if (auto known = check_feature_gates(gates, path); !known) return known;
  engine::Options changed = options;
  jobs::JobGates changed_jobs = job_gates;
  for (const auto& [name, on] : gates) {
    if (const Gate* gate = find_gate(name)) {
      gate->setting(changed) = on == gate->on;
    } else if (const JobGate* of_jobs = find_job_gate(name)) {
      changed_jobs.*(of_jobs->setting) = on;
    }
  }
  for (const auto& gate : kGates) {
    const bool named = gates.contains(std::string(gate.name));
    if (gate.follows && !named && !is_on(*find_gate(gate.parent), changed)) gate.setting(changed) = !gate.on;
  }
  for (const auto& gate : kGates) {
    if (gate.parent.empty() || !is_on(gate, changed) || is_on(*find_gate(gate.parent), changed)) continue;
    return refuse(path, gate.name,
                  "is on and needs \"" + std::string(gate.parent) + "\", which is off; turn both on or both off");
  }
  options = changed;
  job_gates = changed_jobs;
  return {};
}

}  // namespace berth::controller
