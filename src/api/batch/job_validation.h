// The rules of Kueue's webhooks for batch/v1 Jobs, as pure functions.
// https://kueue.sigs.k8s.io/docs/tasks/run/jobs/
#pragma once

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api::batch {

// The facts about the cluster that the rules for one Job need.
struct JobContext {
  bool namespace_managed = true;  // the namespace matches managedJobsNamespaceSelector
  bool manage_without_queue_name = false;
  bool ancestor_managed = false;               // an owner of the Job, direct or not, is managed itself
  bool default_queue_exists = false;           // a LocalQueue named "default" in the Job's namespace
  bool default_priority_class_exists = false;  // a WorkloadPriorityClass named "default"
  bool identifier_annotations = true;  // gate WorkloadIdentifierAnnotations: an annotation may name a prebuilt workload
};

// Whether Berth manages the Job, i.e. decides when it runs.
bool is_managed(const Json& job, const JobContext& context);

// On creation: sets the default queue and priority class, and suspends a managed Job.
void default_job(Json& job, const JobContext& context);

FieldErrors validate_job(const Json& job, bool identifier_annotations = true);
// `default_queue_exists`: a LocalQueue "default" exists in the namespace; then the queue name cannot be removed.
FieldErrors validate_job_update(const Json& job, const Json& old, bool default_queue_exists,
                                bool identifier_annotations = true);

}  // namespace berth::api::batch
