// The workload of a job: created from the job, compared with it, and updated when the job or its labels change.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/job_uid.h"
#include "api/kueue/types.h"
#include "base/json.h"
#include "base/result.h"
#include "jobs/job_adapter.h"
#include "jobs/job_facts.h"

namespace berth::jobs {

// Label of a workload: the uid of the job that controls it or controlled it.
using api::kueue::kJobUidLabel;

// What a new workload is made of.
struct Draft {
  std::string name;
  const Json& object;  // labels, annotations and namespace come from it
  std::vector<api::kueue::PodSet> pod_sets;
  std::string pod_priority_class;  // of its pods; empty when there is none
  std::vector<api::OwnerReference> owners;
};
// The workload of a draft, with the finalizer. Fails when the object names a WorkloadPriorityClass that does not exist.
Result<api::kueue::Workload> compose(Draft draft, const JobFacts& facts);

// What is wrong with a job whose pods have a PriorityClass that does not exist: the API server refuses such pods. A
// WorkloadPriorityClass of its own takes precedence, and then the class of the pods is not looked at.
std::optional<std::string> unknown_pod_class(const JobAdapter& adapter, const Json& job, const JobFacts& facts);
// A workload for a job, with this name. Fails as compose() does.
Result<api::kueue::Workload> compose_for_job(const JobAdapter& adapter, const Json& job, std::string name,
                                             const JobFacts& facts);
// The Workload for a job that has none yet. Fails as compose() does.
Result<Json> make_workload(const JobAdapter& adapter, const Json& job, const JobFacts& facts);
// The name of the job's workload, whether or not it exists. `is_short`: the gate ShortWorkloadNames is on.
std::string workload_name_of(const JobAdapter& adapter, const Json& job, bool is_short);
// Whether the job's workload has this name, whatever the gate was when it was made.
bool is_workload_name_of(const JobAdapter& adapter, const Json& job, std::string_view name);

// Merge patch: makes `job`, a reference to a controller, an owner of the workload; its other owners stay.
Json take_ownership(const api::OwnerReference& job, const api::kueue::Workload& workload);
bool is_controlled_by(const api::kueue::Workload& workload, std::string_view uid);

// Whether a workload describes the job as it is. `running`: the job is not suspended, so it includes what admission
// added. `by_hand`: the workload is prebuilt, so its topology requests may differ from the job's.
// Returns what differs, the value of the job first, as 'the number of pods of pod set main: 3 and 2'; "" when nothing
// does.
std::string mismatch(const api::kueue::Workload& workload, const std::vector<api::kueue::PodSet>& pod_sets,
                     const Json& job, bool running, bool by_hand);
inline bool describes(const api::kueue::Workload& workload, const std::vector<api::kueue::PodSet>& pod_sets,
                      const Json& job, bool running, bool by_hand) {
  return mismatch(workload, pod_sets, job, running, by_hand).empty();
}
// Merge patch for the spec of a workload that does not describe the job; with it, it does.
Json redescribe(const std::vector<api::kueue::PodSet>& pod_sets, const Json& job);

// The differences between the workload and the job's labels and annotations: queue (only while the workload holds no
// quota), priority class and the value of its class, admission gates.
struct Drift {
  Json patch;                      // merge patch; an empty object when there is nothing
  std::vector<std::string> notes;  // event notes, one for each change that users should see
  // The WorkloadPriorityClass that the job names and that does not exist; "" when there is none.
  std::string missing_class;
};
Drift drift_of(const Json& job, const api::kueue::Workload& workload, const JobFacts& facts);

// The reason of the event about a WorkloadPriorityClass that does not exist.
inline constexpr std::string_view kClassNotFound = "WorkloadPriorityClassNotFound";
// "WorkloadPriorityClass "x" not found"
std::string class_not_found(std::string_view name);

}  // namespace berth::jobs
