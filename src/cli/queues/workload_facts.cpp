#include "cli/queues/workload_facts.h"

#include "api/kueue/job_uid.h"
#include "api/kueue/types.h"
#include "api/meta.h"
#include "api/owners.h"
#include "api/status.h"
#include "api/visibility/visibility.h"
#include "cli/queues/lister.h"

namespace berth::cli::queues {
namespace {

namespace kueue = api::kueue;
namespace visibility = api::visibility;

}  // namespace

WorkloadState state_of(const Json& workload) {
  const api::Conditions conditions = conditions_of(workload);
  if (api::is_true(conditions, kueue::kFinished)) return WorkloadState::kFinished;
  if (api::is_true(conditions, kueue::kAdmitted)) return WorkloadState::kAdmitted;
  if (api::is_true(conditions, kueue::kQuotaReserved)) return WorkloadState::kQuotaReserved;
  return WorkloadState::kPending;
}

std::string_view to_text(WorkloadState state) {
  switch (state) {
    case WorkloadState::kQuotaReserved:
      return "QUOTARESERVED";
    case WorkloadState::kAdmitted:
      return "ADMITTED";
    case WorkloadState::kFinished:
      return "FINISHED";
    default:
      return "PENDING";
  }
}

std::string why_it_waits(const Json& workload) {
  const WorkloadState state = state_of(workload);
  if (state == WorkloadState::kFinished || state == WorkloadState::kAdmitted) return "";
  const api::Conditions conditions = conditions_of(workload);
  // A group that lost pods is evaluated again when other pods have come; until then, the former reason is out of date.
  const api::Condition* pods = api::find_condition(conditions, kueue::kWaitingForReplacementPods);
  if (state != WorkloadState::kQuotaReserved && pods != nullptr && pods->status) return pods->message;
  const api::Condition* condition = api::find_condition(
      conditions, state == WorkloadState::kQuotaReserved ? kueue::kAdmitted : kueue::kQuotaReserved);
  return condition == nullptr ? "" : condition->message;
}

std::optional<Duration> execution_time(const Json& workload, Time now) {
  const api::Conditions conditions = conditions_of(workload);
  const api::Condition* admitted = api::find_condition(conditions, kueue::kAdmitted);
  if (admitted == nullptr || !admitted->status) return std::nullopt;
  const api::Condition* finished = api::find_condition(conditions, kueue::kFinished);
  const bool over = finished != nullptr && finished->status;
  return (over ? finished->last_transition : now) - admitted->last_transition;
}

const Json* owner_of(const Json& workload) {
  if (const Json* owner = api::controller_of(workload)) return owner;
  const JsonArray& owners = array_at(workload, {"metadata", "ownerReferences"});
  return owners.empty() ? nullptr : &owners.front();
}

bool belongs_to(const Json& workload, const Json& object) {
  const std::string_view uid = string_at(object, {"metadata", "uid"});
  if (uid.empty()) return false;
  if (string_at(workload, {"metadata", "labels", kueue::kJobUidLabel}) == uid) return true;
  for (const Json& owner : array_at(workload, {"metadata", "ownerReferences"})) {
    if (string_at(owner, {"uid"}) == uid) return true;
  }
  return false;
}

std::string add_positions(Server& server, const std::string& ns, const std::string& local_queue, Positions& positions) {
  std::string path = "/apis/" + std::string(visibility::kGroup) + "/" + std::string(visibility::kVersions.front()) +
                     "/namespaces/" + ns + "/localqueues/" + local_queue + "/" + std::string(visibility::kSubresource);
  path += "?limit=" + std::to_string(visibility::kMaxLimit);
  const api::RestResponse response = server.get(path);
  // A queue that is not there, or not known to the controller, has no pending workloads.
  if (response.code == 404 && !string_at(response.body, {"details", "name"}).empty()) return "";
  if (!response.ok()) return api::failure_text(response);
  for (const Json& item : array_at(response.body, {"items"})) {
    positions[{std::string(string_at(item, {"metadata", "namespace"})),
               std::string(string_at(item, {"metadata", "name"}))}] = int_at(item, {"positionInLocalQueue"});
  }
  return "";
}

}  // namespace berth::cli::queues
