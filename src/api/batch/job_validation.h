// The rules that Kueue's webhooks put on batch/v1 Jobs, as pure functions.
// https://kueue.sigs.k8s.io/docs/tasks/run/jobs/
#pragma once

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api::batch {

// What a decision about one Job needs to know of the rest of the cluster.
struct JobContext {
  bool namespace_managed = true;  // the namespace matches managedJobsNamespaceSelector
  bool manage_without_queue_name = false;
  bool ancestor_managed = false;               // an owner of the Job is managed itself
  bool default_queue_exists = false;           // a LocalQueue named "default" in the Job's namespace
  bool default_priority_class_exists = false;  // a WorkloadPriorityClass named "default"
  bool identifier_annotations =
      true;  // gate WorkloadIdentifierAnnotations: an annotation may name a prebuilt workload
};

// Whether Berth decides when the Job runs.
bool is_managed(const Json& job, const JobContext& context);

// On creation: the default queue and priority class, and a managed Job starts suspended.
void default_job(Json& job, const JobContext& context);

FieldErrors validate_job(const Json& job, bool identifier_annotations = true);
// `default_queue_exists`: then the queue cannot be taken away from a Job, which would only get the default
// one.
FieldErrors validate_job_update(const Json& job, const Json& old, bool default_queue_exists,
                                bool identifier_annotations = true);

}  // namespace berth::api::batch
