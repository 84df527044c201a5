// What reconciling a job looks up: settings, priority classes, flavors and workloads. All of it comes from caches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/kueue/types.h"
#include "jobs/pod_set_info.h"

namespace berth::jobs {

using WorkloadPtr = std::shared_ptr<const api::kueue::Workload>;

// Kueue's feature gates for jobs and their workloads, with Kueue's defaults.
struct JobGates {
  // FinishOrphanedWorkloads: a workload whose job is gone becomes Finished. Off: only its finalizer is removed.
  bool finish_orphaned = true;
  // WorkloadIdentifierAnnotations: an annotation may name a prebuilt workload; it takes precedence over the label.
  bool identifier_annotations = true;
  // WorkloadLevelWaitForPodsReady: a workload has the annotation of its job that says how long its pods may take.
  bool ready_times = false;
  // WaitForPodsReadyMaxNotReady: an annotation of the pods of a group allows some of them to be not ready.
  bool max_not_ready = false;
  // FastQuotaReleaseInPodIntegration: an evicted pod group gives its quota back when its pods begin to terminate, as a
  // single pod does. Off: when they have ended.
  bool fast_quota_release = false;
  // ElasticJobsViaWorkloadSlices: jobs with the annotation kueue.x-k8s.io/elastic-job change their size while they run.
  bool elastic_jobs = true;
  // FailureRecoveryPolicy: pods that agree to it are deleted by force when they cannot end on an unreachable node.
  bool failure_recovery = false;
  // DeploymentJobUIDLabel: the workload of a pod of a managed Deployment has the UID of the Deployment as its job's.
  bool deployment_job_uid = true;
  // RayServiceValidateUpgradeStrategy: a managed RayService may not run a second cluster during upgrades.
  bool check_ray_upgrades = true;
  // TASRejectFalseUnconstrainedTopology: "false" is no value of the annotation for unconstrained topology.
  bool refuse_false_unconstrained = false;
  // ShortWorkloadNames: names of workloads have at most 63 characters, as values of labels.
  bool short_names = false;
  // SkipChildJobSuspension: a job whose owner is managed is left alone, also while that owner waits.
  bool skip_children = false;
  // PodGroupSchedulingShapeOrdering: pod sets of a group stand in the order of the shape of their pods.
  bool group_order_by_shape = true;
  // KueueDRAIntegration, its gates for extended resources, PartitionableDevices, ConsumableCapacity and
  // PrioritizedList: which devices are counted (jobs/devices).
  bool count_devices = true, extended_devices = true, device_counters = true;
  bool device_capacities = false, device_alternatives = false;
  // MultiKueue: jobs of a queue with such a check run on other clusters.
  bool multikueue = true;
  // MultiKueueAdaptersForCustomJobs: also jobs of kinds that do not ship with Berth. MultiKueueRemoteSpecSync: some
  // fields of a job that change are written to the job on the worker.
  bool multikueue_own_kinds = true, multikueue_spec_sync = true;
  // KueueDRADeviceFeasibility and KueueDRAIntegrationDeviceTaints: places in a topology look at devices, and at their
  // taints.
  bool device_places = false, device_taints = false;
};

struct ServedGroupState;

struct JobFacts {
  // The namespace is selected, the job has a queue or needs none, and no owner of the job is managed.
  bool managed = true;
  // An owner of the job is managed; it is not admitted, so the job must not run.
  bool has_ancestor = false, ancestor_waits = false;
  // The job has more owners above each other than are looked at; one of these might be managed.
  bool nested_too_deep = false;
  std::string job_uid;        // of the owner that stands for the job in the label of its workload; "": none does
  std::string start_refused;  // why the API server refused the last start of this job; "": it did not
  JobGates gates;
  FlavorLookup flavors;
  // The labels and annotations that a new workload copies from its job.
  std::vector<std::string> label_keys_to_copy, annotation_keys_to_copy;
  // The value of a class by name; nullopt when the class does not exist.
  std::function<std::optional<std::int32_t>(std::string_view)> workload_priority_class;
  std::function<std::optional<std::int32_t>(std::string_view)> priority_class;
  // Whether the class had this value before it got another one or was deleted. May be empty.
  std::function<bool(const api::kueue::PriorityClassRef& priority_class, std::int32_t value)> class_had;
  // The name and value of the default class; nullopt when there is none.
  std::function<std::optional<std::pair<std::string, std::int32_t>>()> global_default_priority_class;
  // A workload by namespace and name, whichever job it belongs to; null when there is none.
  std::function<WorkloadPtr(std::string_view ns, std::string_view name)> workload;
  // A group of pods by namespace and name, as its owner has it; null when there is no such owner. May be empty.
  std::function<std::shared_ptr<const ServedGroupState>(std::string_view ns, std::string_view name)> served_group;
};

}  // namespace berth::jobs
