#include "controller/gates.h"

#include <algorithm>

namespace berth::controller {
namespace {

using enum GateStage;
using enum GateSupport;

constexpr GateReader setting(GateReader::EngineSetting of) { return of; }
// The setting is off while the gate is on.
constexpr GateReader opposite(GateReader::EngineSetting of) { return {of, false}; }

constexpr Gate kGates[] = {
    {"AdmissionFairSharing", kBeta, true, "0.15",
     setting([](engine::Options& o) -> bool& { return o.admission_by_usage; }),
     "off: the section `admissionFairSharing` has no effect"},
    {"AdmissionFairSharingAnchorAtQuotaReservation", kBeta, true, "0.20",
     setting([](engine::Options& o) -> bool& { return o.usage_from_reservation; }),
     "usage of a LocalQueue counts from the quota reservation of a workload, where the ClusterQueue admits by usage. "
     "Off: from its admission",
     "AdmissionFairSharing", true},
    {"AdmissionGatedBy", kBeta, true, "0.19", kAlwaysOn,
     "the annotation `kueue.x-k8s.io/admission-gated-by` holds a workload"},
    {"AssignQueueLabelsForPods", kBeta, true, "0.17", kAlwaysOn,
     "pods of jobs carry the names of their queues as labels"},
    {"BerthReplaceSeveralNodes", kOwn, true, "",
     setting([](engine::Options& o) -> bool& { return o.replace_several_nodes; }),
     "several failed nodes of one workload are replaced together. Off: the second failed node evicts the workload, as "
     "in Kueue"},
    {"CleanupProvisioningRequestsOnEviction", kBeta, true, "0.19", kAlwaysOn,
     "an eviction deletes the ProvisioningRequests of the workload"},
    {"ConcurrentAdmission", kAlpha, false, "0.18", kMissing,
     "`concurrentAdmissionPolicy` of a ClusterQueue is stored and has no effect: a workload has one place in the queue "
     "and takes the first flavor that fits"},
    {"ConfigurablePreemptions", kAlpha, false, "0.20", kMissing,
     "PreemptionConfigs are not served: the `preemption` of the ClusterQueue decides alone"},
    {"CustomMetricLabels", kAlpha, false, "0.17", kSetting, "on: `metrics.customLabels` has an effect"},
    {"DeferRayServiceFinalizationForRedisCleanup", kDeprecated, false, "0.20", kNoDifference,
     "a RayService with Redis is deleted after its clean-up in any case"},
    {"DeploymentJobUIDLabel", kBeta, true, "0.20", &jobs::JobGates::deployment_job_uid,
     "the label `kueue.x-k8s.io/job-uid` of the workloads of a Deployment has its UID. Off: the UID of the pod"},
    {"DisableWaitForPodsReady", kAlpha, false, "0.19",
     opposite([](engine::Options& o) -> bool& { return o.wait_for_pods_ready.enabled; }),
     "on: switches `waitForPodsReady` off"},
    {"DynamicQuotaOrchestration", kAlpha, false, "0.20", kMissing,
     "CapacityProviders and DynamicQuotaOrchestrators are not served: quota is what ClusterQueues and Cohorts say"},
    {"ElasticJobsViaWorkloadSlices", kBeta, true, "0.18",
     setting([](engine::Options& o) -> bool& { return o.elastic_jobs; }),
     "a job with the annotation `kueue.x-k8s.io/elastic-job` changes its size while it runs"},
    {"ElasticJobsViaWorkloadSlicesFlavorChangeFromZero", kAlpha, false, "0.20", kMissing,
     "an elastic job that grows again from no pods keeps its flavor"},
    {"ElasticJobsViaWorkloadSlicesForProvisioningRequests", kAlpha, false, "0.20", kMissing,
     "a ProvisioningRequest asks for all pods of an elastic job that grows"},
    {"ElasticJobsViaWorkloadSlicesWithPartialReplicaScaleUp", kAlpha, false, "0.20", kMissing,
     "an elastic job grows to its whole size or not at all"},
    {"ElasticJobsViaWorkloadSlicesWithTAS", kAlpha, false, "0.17", kAlwaysOn,
     "pods of an elastic job that have places in a topology keep them while it grows, and the others are placed with "
     "them"},
    {"EnforceProvisioningPodTemplateContents", kBeta, true, "0.20", kAlwaysOn,
     "a prepared PodTemplate gets the contents that were admitted"},
    {"FailureRecoveryPolicy", kAlpha, false, "0.15", &jobs::JobGates::failure_recovery,
     "on: a terminating pod on an unreachable node is deleted by force if it has the annotation "
     "`kueue.x-k8s.io/safe-to-forcefully-delete: \"true\"`"},
    {"FairSharingPreemptWithinNominal", kBeta, true, "0.17",
     setting([](engine::Options& o) -> bool& { return o.fair_preempt_within_nominal; }),
     "with `fairSharing`: a queue that stays within its nominal quota may reclaim from any queue that borrows, "
     "whatever their shares are"},
    {"FairSharingPrioritizeNonBorrowing", kBeta, true, "0.17",
     setting([](engine::Options& o) -> bool& { return o.fair_prioritize_non_borrowing; }),
     "with `fairSharing`: a workload that does not borrow goes before workloads that borrow"},
    {"FairSharingReevaluatePreemptionCandidates", kAlpha, false, "0.20", kNoDifference,
     "Berth looks at a rejected candidate again when other victims change what it would take"},
    {"FairSharingRefill", kAlpha, false, "0.20", kNoDifference, "a pass of Berth goes on until nothing more fits"},
    {"FastQuotaReleaseInPodIntegration", kAlpha, false, "0.17", &jobs::JobGates::fast_quota_release,
     "on: an evicted pod group gives its quota back when its pods begin to terminate, as a single pod does. Off: when "
     "they have ended"},
    {"FinalizeTerminatingPodGroups", kBeta, true, "0.20", kAlwaysOn,
     "pods of a group that is deleted lose their finalizers"},
    {"FinishOrphanedWorkloads", kBeta, true, "0.18", &jobs::JobGates::finish_orphaned,
     "a workload whose job is gone becomes Finished (`OwnerNotFound`). Off: only its finalizer is removed"},
    {"FlavorFungibility", kBeta, true, "0.5", setting([](engine::Options& o) -> bool& { return o.flavor_fungibility; }),
     "`flavorFungibility` of the ClusterQueue says when to try the next flavor. Off: the first flavor that fits is "
     "taken"},
    {"FlavorFungibilityPreserveScanProgress", kBeta, true, "0.20", kNoDifference,
     "Berth goes on with the next flavor in the same pass"},
    {"HighMaxParallelismWithinReconcile", kBeta, true, "0.20", kNoDifference, "Berth decides in one thread"},
    {"KueueDRADeviceFeasibility", kAlpha, false, "0.20", &jobs::JobGates::device_places,
     "on: pods get places in a topology where the devices that they claim are free", "KueueDRAIntegration"},
    {"KueueDRAIntegration", kBeta, true, "0.18", &jobs::JobGates::count_devices,
     "devices of resource claims count against quota, by `resources.deviceClassMappings`. Off: a workload whose pods "
     "have resource claims is held"},
    {"KueueDRAIntegrationConsumableCapacity", kAlpha, false, "0.19", &jobs::JobGates::device_capacities,
     "on: a mapping may count devices that are shared by what is taken of them (`sources[].capacity`)",
     "KueueDRAIntegration"},
    {"KueueDRAIntegrationDeviceTaints", kAlpha, false, "0.20", &jobs::JobGates::device_taints,
     "on: devices with taints that a request does not tolerate are not free for it", "KueueDRADeviceFeasibility"},
    {"KueueDRAIntegrationExtendedResource", kBeta, true, "0.19", &jobs::JobGates::extended_devices,
     "an extended resource that a DeviceClass provides counts as the resource of its mapping. Off: under its own name",
     "KueueDRAIntegration", true},
    {"KueueDRAIntegrationPartitionableDevices", kBeta, true, "0.19", &jobs::JobGates::device_counters,
     "a mapping may count devices that are parts of others by what they take of a counter (`sources[].counter`)",
     "KueueDRAIntegration", true},
    {"KueueDRAIntegrationPrioritizedList", kAlpha, false, "0.20", &jobs::JobGates::device_alternatives,
     "on: a request may list alternatives (`firstAvailable`) that all count the same", "KueueDRAIntegration"},
    {"KueueDRARejectWorkloadsWhenDRADisabled", kBeta, true, "0.18", kNeverOff,
     "while devices are not counted, a workload whose pods have resource claims is held: its devices would run without "
     "quota"},
    {"LWSImmutableGroupSize", kBeta, true, "0.20", kAlwaysOn,
     "the size of the groups of a LeaderWorkerSet with a queue does not change"},
    {"LocalQueueMetrics", kBeta, true, "0.17", kAlwaysOn,
     "`metrics.localQueueMetrics` says which LocalQueues have metrics"},
    {"ManagedJobsNamespaceSelectorAlwaysRespected", kStable, true, "0.19", kNeverOff,
     "jobs in namespaces that `managedJobsNamespaceSelector` leaves out are not managed"},
    {"MetricForWorkloadCreationLatency", kBeta, true, "0.18", kAlwaysOn,
     "the metric of the time from a job to its workload is served"},
    {"MetricsForCohorts", kBeta, true, "0.18", kAlwaysOn, "the metrics of Cohorts are served"},
    {"MultiKueue", kBeta, true, "0.9", &jobs::JobGates::multikueue,
     "jobs of a ClusterQueue with a MultiKueue check run on other clusters ([multikueue.md](multikueue.md)). "
     "Off: "
     "such a ClusterQueue stays inactive"},
    {"MultiKueueAdaptersForCustomJobs", kBeta, true, "0.15", &jobs::JobGates::multikueue_own_kinds,
     "so do jobs of kinds of one's own, as their descriptions say ([job-kinds.md](job-kinds.md))"},
    {"MultiKueueBatchJobClearingTTLSecondsAfterFinishedOnWorkerCluster", kAlpha, false, "0.20", kMissing,
     "the Job on the worker never has `ttlSecondsAfterFinished`: the manager deletes it"},
    {"MultiKueueClusterProfile", kAlpha, false, "0.15", kMissing,
     "the kubeconfig of a worker cluster comes from a Secret"},
    {"MultiKueueIncrementalDispatcherConfig", kBeta, true, "0.19", kAlwaysOn,
     "`multiKueue.incrementalDispatcherConfig` has an effect"},
    {"MultiKueueIncrementalDispatcherRespectConfigOrder", kBeta, true, "0.19", kAlwaysOn,
     "the incremental dispatcher nominates clusters in the order of the MultiKueueConfig"},
    {"MultiKueueKubeConfigPathValidation", kBeta, true, "0.20", kNoDifference,
     "kubeconfigs come from Secrets: no file is read"},
    {"MultiKueueManagerQuotaAutomation", kAlpha, false, "0.18", kMissing,
     "quota is what ClusterQueues and Cohorts say"},
    {"MultiKueueOrchestratedPreemption", kBeta, true, "0.20",
     setting([](engine::Options& o) -> bool& { return o.preemption_gates; }),
     "a workload with a closed preemption gate preempts nothing. Berth does not open the gates"},
    {"MultiKueueRayInTreeAutoscaling", kAlpha, false, "0.20", kMissing, "elastic jobs run on no other cluster"},
    {"MultiKueueRemoteSpecSync", kBeta, true, "0.20", &jobs::JobGates::multikueue_spec_sync,
     "the `serveConfigV2` of a RayService that runs on another cluster may change"},
    {"MultiKueueReuseClientConnectionConfigForWorkers", kBeta, true, "0.20", kMissing,
     "each worker cluster has a limit of 300 requests a second of its own"},
    {"PartialAdmission", kBeta, true, "0.5", setting([](engine::Options& o) -> bool& { return o.partial_admission; }),
     "a job may start with fewer pods (`minCount`). Off: `minCount` has no effect"},
    {"PodGroupSchedulingShapeOrdering", kBeta, true, "0.20", &jobs::JobGates::group_order_by_shape,
     "pod sets of a new group stand in the order of the hash of their shape: roles of one's own decide no flavor. Off: "
     "in the order of their names"},
    {"PodIntegrationCountSucceededPodsAsReady", kBeta, true, "0.20", kAlwaysOn, "a pod that succeeded counts as ready"},
    {"PodIntegrationValidateGroupOwner", kBeta, true, "0.18", kAlwaysOn,
     "a group takes only a workload that was made for a group"},
    {"PrioritizePreemptorWorkloads", kAlpha, false, "0.20",
     setting([](engine::Options& o) -> bool& { return o.prioritize_preemptors; }),
     "on: quota that victims give back stays reserved for their preemptor until all of them are gone, in StrictFIFO "
     "queues too"},
    {"PriorityBoost", kAlpha, false, "0.17", setting([](engine::Options& o) -> bool& { return o.priority_boost; }),
     "on: the annotation `kueue.x-k8s.io/priority-boost` of a workload is added to its priority"},
    {"PrioritySortingWithinCohort", kBeta, true, "0.6",
     setting([](engine::Options& o) -> bool& { return o.priority_sorting_within_cohort; }),
     "the first workloads of the queues of a cohort are ordered by priority, then by age. Off: by age"},
    {"QuotaCheckStrategy", kBeta, true, "0.19", kAlwaysOn, "`resources.quotaCheckStrategy` has an effect"},
    {"RayServiceValidateUpgradeStrategy", kBeta, true, "0.20", &jobs::JobGates::check_ray_upgrades,
     "a RayService with a queue needs `upgradeStrategy.type: None`: other upgrades run a second cluster, which has no "
     "quota. Off: it is not checked"},
    {"ReclaimablePods", kBeta, true, "0.15", setting([](engine::Options& o) -> bool& { return o.reclaimable_pods; }),
     "pods that are done (`status.reclaimablePods`) give their quota back while the job runs"},
    {"RecomputeAssignmentUponPreemptionTargetsOverlap", kBeta, true, "0.20",
     setting([](engine::Options& o) -> bool& { return o.recompute_on_overlap; }),
     "if two workloads of one cycle choose the same victims, the second one gets flavors as if these victims were "
     "gone. Off: it waits for the next cycle"},
    {"RejectUpdatesToCQWithInvalidOnFlavors", kBeta, true, "0.20", kAlwaysOn,
     "`onFlavors` of admission checks is checked on every update of a ClusterQueue that is not being deleted"},
    {"RemoveFinalizersWithStrictPatch", kBeta, true, "0.17", kNoDifference, "it says how Kueue writes"},
    {"ReservedResourceNameValidation", kBeta, true, "0.20", kAlwaysOn,
     "`pods` cannot be the output of a transformation"},
    {"SchedulerLibraryIntegration", kAlpha, false, "0.19",
     setting([](engine::Options& o) -> bool& { return o.topology.host_ports; }),
     "on: pods that take the same port of their node (`hostPort`) get places on different nodes. Volumes of pods do "
     "not "
     "count for places"},
    {"SchedulingEquivalenceHashing", kBeta, true, "0.18",
     setting([](engine::Options& o) -> bool& { return o.scheduling_equivalence_hashing; }),
     "of equal workloads in one queue only the first is evaluated"},
    {"SchedulingEquivalenceHashingIgnorePodSetName", kBeta, true, "0.20", kNoDifference,
     "workloads that differ in the names of their pod sets are evaluated one by one, with the same answers"},
    {"ShortWorkloadNames", kAlpha, false, "0.17", &jobs::JobGates::short_names,
     "on: names of new workloads of jobs and single pods have at most 63 characters, as values of labels. Off: up to "
     "253"},
    {"SkipAncestorCheckForDeletedWorkloads", kBeta, true, "0.20", kAlwaysOn,
     "a workload that is deleted is not held by the owners of its job"},
    {"SkipChildJobSuspension", kAlpha, false, "0.20", &jobs::JobGates::skip_children,
     "on: a job is left alone whose owner is managed. Off: it is suspended while its owner waits"},
    {"SkipReassignmentForPodOwnedWorkloads", kBeta, true, "0.19",
     setting([](engine::Options& o) -> bool& { return o.keep_places_of_single_pods; }),
     "the workload of a single pod keeps its place when the pod's node fails: no other pod could take another one"},
    {"SparkApplicationIntegration", kAlpha, false, "0.17", kAlwaysOn,
     "`integrations.frameworks` says whether SparkApplications are managed"},
    {"TASAssignmentsEncodingByHostnamePrefix", kBeta, true, "0.19", kAlwaysOn,
     "places in statuses share the prefix of their host names"},
    {"TASBalancedPlacement", kAlpha, false, "0.15",
     setting([](engine::Options& o) -> bool& { return o.topology.balanced_placement; }),
     "on: a preferred topology request is spread evenly over as few domains as possible"},
    {"TASCacheNodeMatchResults", kBeta, true, "0.19", kNoDifference, "it says what Kueue remembers"},
    {"TASCacheTopologyTree", kBeta, true, "0.20", kNoDifference, "it says what Kueue remembers"},
    {"TASCachingRemainingResources", kBeta, true, "0.19", kNoDifference, "it says what Kueue remembers"},
    {"TASFailedNodeReplacement", kBeta, true, "0.14",
     setting([](engine::Options& o) -> bool& { return o.replace_failed_nodes; }),
     "the pods of a failed node get another node, and the other pods of the workload run on"},
    {"TASFailedNodeReplacementFailFast", kBeta, true, "0.14",
     setting([](engine::Options& o) -> bool& { return o.replace_fail_fast; }),
     "the workload is evicted when the first search for another node fails", "TASFailedNodeReplacement"},
    {"TASGroupedPodSetSlicing", kBeta, true, "0.20",
     setting([](engine::Options& o) -> bool& { return o.topology.grouped_slices; }),
     "the workers of a group may be in slices. Off: such a workload waits"},
    {"TASHandleOverlappingFlavors", kBeta, true, "0.18", kAlwaysOn, "a node that several flavors name counts once"},
    {"TASLeaderPodSetFeasibility", kBeta, true, "0.20", kAlwaysOn,
     "the leader of a group is placed on a node that it may use"},
    {"TASMultiLayerTopology", kBeta, true, "0.19",
     setting([](engine::Options& o) -> bool& { return o.topology.multi_layer; }), "slices of slices"},
    {"TASNodeFeasibilityForAllLevels", kBeta, true, "0.20",
     setting([](engine::Options& o) -> bool& { return o.topology.every_node; }),
     "node selectors, affinity, taints and the capacity of single nodes count in all topologies. Off: only where the "
     "lowest level is the host name"},
    {"TASPartialSlices", kBeta, true, "0.20",
     setting([](engine::Options& o) -> bool& { return o.topology.partial_slices; }),
     "the last slice of a pod set may have fewer pods than the others. Off: a workload whose slices do not divide its "
     "pods waits"},
    {"TASProfileMixed", kBeta, true, "0.15",
     setting([](engine::Options& o) -> bool& { return o.topology.mixed_profile; }),
     "unconstrained topology requests use the domains with the least free capacity. Off: best fit, as for other "
     "requests"},
    {"TASRecomputeAssignmentWithinSchedulingCycle", kBeta, true, "0.19", kAlwaysOn,
     "places are chosen again when another workload of the same pass took them"},
    {"TASRejectFalseUnconstrainedTopology", kAlpha, false, "0.20", &jobs::JobGates::refuse_false_unconstrained,
     "on: `podset-unconstrained-topology: \"false\"` is refused. Off: it asks for nothing"},
    {"TASReplaceMultipleFailedNodes", kAlpha, false, "0.20", kAlwaysOn,
     "several failed nodes of one workload are replaced together, unless `BerthReplaceSeveralNodes` is false"},
    {"TASReplaceNodeDueToNotReadyOverFixedTime", kDeprecated, false, "0.19",
     setting([](engine::Options& o) -> bool& { return o.replace_not_ready; }),
     "on: a node that is not Ready for 30 s counts as failed, whatever its pods do", "TASFailedNodeReplacement"},
    {"TASReplaceNodeOnNodeTaints", kBeta, true, "0.17",
     setting([](engine::Options& o) -> bool& { return o.replace_on_taints; }),
     "a node with a taint that the pods do not tolerate counts as failed when the pods of the workload on it have "
     "ended or terminate"},
    {"TASReplaceNodeOnPodTermination", kBeta, true, "0.14",
     setting([](engine::Options& o) -> bool& { return o.replace_on_pod_termination; }),
     "the same for a node that is not Ready. Off: it counts as failed after 30 s", "TASFailedNodeReplacement"},
    {"TASRespectNodeAffinityPreferred", kAlpha, false, "0.18",
     setting([](engine::Options& o) -> bool& { return o.topology.preferred_affinity; }),
     "on: domains whose nodes the pods prefer (node affinity with weights) come before all others, however full they "
     "are"},
    {"TASTopologySpreading", kAlpha, false, "0.20",
     setting([](engine::Options& o) -> bool& { return o.topology.spreading; }),
     "on: the annotation `kueue.x-k8s.io/podset-topology-spreading` spreads workloads over the domains of a level"},
    {"TASValidateWorkloadSliceSize", kBeta, true, "0.20", kAlwaysOn, "the sizes of slices are checked"},
    {"TLSOptions", kStable, true, "0.20", kAlwaysOn, "the section `tls` has an effect"},
    {"TopologyAwareScheduling", kBeta, true, "0.14", kAlwaysOn, "flavors with `topologyName` place pods"},
    {"UnadmittedWorkloadsExplicitStatus", kAlpha, false, "0.19",
     setting([](engine::Options& o) -> bool& { return o.unadmitted_explicit_status; }),
     "a workload that is not evaluated, because an equal one waits or others of a StrictFIFO queue stand before it, "
     "says so",
     "UnadmittedWorkloadsObservability", true},
    {"UnadmittedWorkloadsObservability", kBeta, true, "0.20",
     setting([](engine::Options& o) -> bool& { return o.unadmitted_observability; }),
     "the status has one reason for each cause of waiting. Off: only `Pending`, `Inadmissible` or `Waiting`"},
    {"ValidateRayAndSparkJobUpdates", kBeta, true, "0.18", kAlwaysOn, "updates of Ray's and Spark's jobs are checked"},
    {"VectorizedResourceRequests", kBeta, true, "0.19", kNoDifference, "it says how Kueue computes"},
    {"VisibilityOnDemand", kBeta, true, "0.9", kSetting, "the API of pending workloads, explanations and predictions"},
    {"WaitForPodsReadyMaxNotReady", kAlpha, false, "0.20", &jobs::JobGates::max_not_ready,
     "on: a pod group counts as ready although so many pods are not as the annotation "
     "`kueue.x-k8s.io/pod-group-max-not-ready-count` of its pods allows"},
    {"WaitForPodsReadyUnscheduledTimeout", kAlpha, false, "0.20", kSetting,
     "on: `waitForPodsReady.unscheduledTimeout` has an effect. Off: it is refused"},
    {"WorkloadIdentifierAnnotations", kBeta, true, "0.18", &jobs::JobGates::identifier_annotations,
     "the name of a pod group or of a prebuilt workload may be in an annotation, which goes before the label"},
    {"WorkloadLevelWaitForPodsReady", kAlpha, false, "0.20", &jobs::JobGates::ready_times,
     "on: the annotation `kueue.x-k8s.io/wait-for-pods-ready` of a job goes before the times of the Configuration"},
    {"WorkloadPriorityClassDefaulting", kBeta, true, "0.20", kAlwaysOn,
     "a WorkloadPriorityClass named `default` is the default"},
    {"WorkloadRequestUseMergePatch", kAlpha, false, "0.14", kNoDifference, "it says how Kueue writes"},
    {"WorkloadValidateResourcesAreNonNegative", kBeta, true, "0.20", kNeverOff,
     "negative amounts are refused: they would buy quota"},
    {"WorkloadValidationForPodSetMetadata", kBeta, true, "0.20", kAlwaysOn,
     "labels and annotations of pod sets are checked"},
};

constexpr std::string_view kFormerGates[] = {
    "AdmissionCheckValidationRules",
    "ConfigurableResourceTransformations",
    "DynamicResourceAllocation",
    "ExposeFlavorsInLocalQueue",
    "FlavorFungibilityImplicitPreferenceDefault",
    "HierarchicalCohorts",
    "KeepQuotaForProvReqRetry",
    "LendingLimit",
    "LocalQueueDefaulting",
    "ManagedJobsNamespaceSelector",
    "MultiKueueAllowInsecureKubeconfigs",
    "MultiKueueBatchJobWithManagedBy",
    "MultiKueueRedoAdmissionOnEvictionInWorker",
    "MultiKueueWaitForWorkloadAdmitted",
    "MultiplePreemptions",
    "ObjectRetentionPolicies",
    "PropagateBatchJobLabelsToWorkload",
    "ProvisioningACC",
    "QueueVisibility",
    "SanitizePodSets",
    "SkipFinalizersForPodsSuspendedByParent",
    "TASProfileLeastFreeCapacity",
    "TASProfileMostFreeCapacity",
    "WorkloadResourceRequestsSummary",
};

}  // namespace

std::span<const Gate> all_gates() { return kGates; }

std::span<const std::string_view> former_gates() { return kFormerGates; }

const Gate* find_gate(std::string_view name) {
  const auto* found = std::ranges::lower_bound(kGates, name, {}, &Gate::name);
  return found == std::end(kGates) || found->name != name ? nullptr : found;
}

bool default_of(const Gate& gate) {
  const GateReader& reader = gate.reader;
  if (reader.engine != nullptr) {
    engine::Options options;
    return reader.engine(options) == reader.engine_on;
  }
  if (reader.jobs != nullptr) return jobs::JobGates().*reader.jobs;
  switch (reader.support) {
    case kAlwaysOn:
    case kNeverOff:
      return true;
    case kMissing:
      return false;
    case kSetting:
    case kNoDifference:
      return gate.kueue_default;
  }
  return gate.kueue_default;
}

}  // namespace berth::controller
