// The rules of Kueue's webhooks that all kinds of jobs share: which objects are managed, what they get on creation, and
// the labels and annotations of Kueue on them. Pure functions.
// https://kueue.sigs.k8s.io/docs/reference/labels-and-annotations/
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/field_error.h"
#include "base/json.h"
#include "base/time.h"

namespace berth::api::kueue {

// Settings that decide which labels and annotations of a job have a meaning.
struct LabelRules {
  bool identifier_annotations = true;  // gate WorkloadIdentifierAnnotations: an annotation may name a prebuilt workload
  // Gate WorkloadLevelWaitForPodsReady: the longest time that a job may ask for (ready_times.h); none: the gate is off.
  std::optional<Duration> longest_ready_time{};
  // Gate TASRejectFalseUnconstrainedTopology: "false" is no value of the annotation for unconstrained topology.
  bool refuse_false_unconstrained = false;
  // Gate TASTopologySpreading: the annotation for spreading has a meaning (topology_spreading.h).
  bool check_spreading = false;
  // ElasticJobsViaWorkloadSlices: elastic jobs change their size while they run.
  bool elastic_jobs = true;
};

// The facts about the cluster that the rules for one job need.
struct JobContext {
  bool namespace_managed = true;  // the namespace matches managedJobsNamespaceSelector
  bool manage_without_queue_name = false;
  bool ancestor_managed = false;               // an owner of the job, direct or not, is managed itself
  bool default_queue_exists = false;           // a LocalQueue named "default" in the job's namespace
  bool default_priority_class_exists = false;  // a WorkloadPriorityClass named "default"
  LabelRules labels{};
  bool owner_queues = false;  // of a pod: its owner gives it its queue and its group (a StatefulSet does)
};

// Whether Berth manages the job, i.e. decides when it runs.
bool is_managed(const Json& job, const JobContext& context);
// On creation: sets the default queue and priority class. Returns whether the job is managed then.
bool take_defaults(Json& job, const JobContext& context);

// A label or annotation of an object; "" when it is absent.
std::string_view label_of(const Json& object, std::string_view key);
std::string_view annotation_of(const Json& object, std::string_view key);
// Their paths in errors.
std::string label_field(std::string_view key);
std::string annotation_field(std::string_view key);

inline constexpr std::string_view kImmutableField = "field is immutable";

// Each function appends its errors. Checks the queue name, the names of prebuilt workloads and the maximum execution
// time.
void check_job_labels(const Json& job, const LabelRules& rules, FieldErrors& errors);
void check_queue_name(const Json& job, FieldErrors& errors);
void check_admission_gates(const Json& job, FieldErrors& errors);
// `kind`: as the error names it ("apps/v1, Kind=Deployment").
void check_no_elastic_job(const Json& job, std::string_view kind, FieldErrors& errors);
// Why an elastic job that runs keeps its size.
inline constexpr std::string_view kNotResizable =
    "the size of an elastic job cannot change while it runs, because the feature gate ElasticJobsViaWorkloadSlices is "
    "not enabled: suspend the job first, or all its pods would be stopped";

// Rules for updates. `suspended`: the new job does not run.
struct JobUpdate {
  const Json& now;
  const Json& old;
  bool suspended = false;
  bool was_suspended = false;
  bool default_queue_exists = false;
  LabelRules labels{};
};
// Checks the queue name, the name of the prebuilt workload, the maximum execution time, the times for its pods to be
// ready and the priority class.
void check_job_labels_update(const JobUpdate& update, FieldErrors& errors);
// Only a change is checked: what was stored under a longer limit stays. A job that runs keeps its times.
void check_ready_times_update(const JobUpdate& update, FieldErrors& errors);
void check_priority_class_update(const JobUpdate& update, FieldErrors& errors);
// Gates may be removed, not added.
void check_admission_gates_update(const Json& now, const Json& old, FieldErrors& errors);

}  // namespace berth::api::kueue
