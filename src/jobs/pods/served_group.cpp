#include "jobs/pods/served_group.h"

#include <algorithm>
#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "jobs/compose.h"
#include "jobs/workload_steps.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;

constexpr std::string_view kOnHoldReason = "OnHold";

std::string_view metadata_of(const Json& object, std::string_view part, std::string_view key) {
  return string_at(object, {"metadata", part, key});
}

std::int64_t counted(const Workload& w) {
  std::int64_t pods = 0;
  for (const auto& pod_set : w.pod_sets) pods += pod_set.count;
  return pods;
}

std::string gvk_of(const JobKind& kind) { return kind.api_version() + ", Kind=" + kind.kind; }

api::OwnerReference reference_to(const ServedGroupState& group) {
  return {group.kind.api_version(),
          group.kind.kind,
          std::string(string_at(*group.owner, {"metadata", "name"})),
          std::string(string_at(*group.owner, {"metadata", "uid"})),
          false,
          false};
}

bool is_owned_by(const Workload& w, const api::OwnerReference& owner) {
  return std::ranges::any_of(w.meta.owners, [&](const auto& one) { return one.uid == owner.uid; });
}

// Older releases of Kueue left the workload of a group to the pods: it was gone when they were.
Json taken_over(const ServedGroupState& group, const Workload& w) {
  api::ObjectMeta meta;
  meta.owners = w.meta.owners;
  meta.owners.push_back(reference_to(group));
  meta.annotations.insert_or_assign(std::string(kJobOwnerGvk), gvk_of(group.kind));
  meta.annotations.insert_or_assign(std::string(kJobOwnerName), meta.owners.back().name);
  return JsonObject{{"metadata", api::encode_meta(meta)}};
}

}  // namespace

Result<Json> make_served_workload(const ServedGroupState& group, const JobFacts& facts) {
  const api::OwnerReference owner = reference_to(group);
  auto made = compose({group.name, *group.owner, group.pod_sets, group.pod_priority_class, {owner}}, facts);
  if (!made) return tl::unexpected(made.error());
  made->meta.labels.insert_or_assign(std::string(kJobUidLabel), owner.uid);
  auto& annotations = made->meta.annotations;
  for (const auto& [key, value] : group.annotations) annotations.insert_or_assign(key, value);
  annotations.insert_or_assign(std::string(kIsGroupWorkload), "true");
  annotations.insert_or_assign(std::string(kJobOwnerGvk), gvk_of(group.kind));
  annotations.insert_or_assign(std::string(kJobOwnerName), owner.name);
  return encode_workload(*made);
}

std::string hold_of(const ServedGroupState& group, const Workload& workload) {
  if (group.total == 0) return group.hold_message;
  const api::Condition* quota = api::find_condition(workload.status.conditions, kQuotaReserved);
  const bool held = quota != nullptr && !quota->status && quota->reason == kOnHoldReason;
  return held && counted(workload) != group.total ? quota->message : std::string();
}

bool follow_owner(const ServedGroupState& group, const WorkloadPtr& workload, const JobFacts& facts,
                  std::vector<Step>& steps) {
  const Workload& w = *workload;
  if (group.total > 0 && !is_owned_by(w, reference_to(group))) {
    steps.push_back(UpdateWorkload{workload, taken_over(group, w)});
    return true;
  }
  const bool with_quota = has_condition(w, kQuotaReserved);
  if (group.total > 0 && !with_quota && !describes(w, group.pod_sets, *group.owner, false, false)) {
    steps.push_back(UpdateWorkload{workload, redescribe(group.pod_sets, *group.owner)});
    steps.push_back(
        JobEvent{false, "UpdatedWorkload", "Updated not matching Workload for suspended job: " + key_of(w)});
    return true;
  }
  if (group.total > 0 && with_quota && counted(w) != group.total) {
    steps.push_back(cannot_compose(
        std::string(group.kind.kind) + " " + std::string(string_at(*group.owner, {"metadata", "name"})) + " wants " +
        std::to_string(group.total) + " pods, its workload " + key_of(w) + " has quota for " +
        std::to_string(counted(w)) + ": set spec.replicas to 0 first, then to the new number"));
  }
  return catch_up(*group.owner, workload, facts, steps);
}

std::optional<PodAction> put_into_group(const ServedGroupState& group, const ManagedPodPtr& pod,
                                        const JobGates& gates) {
  if (!pod->gated || !pod->runnable()) return std::nullopt;
  Json patch = JsonObject();
  const auto set = [&](std::string_view part, std::string_view key, std::string_view value) {
    if (metadata_of(*pod->object, part, key) != value) ensure_path(patch, {"metadata", part, key}) = Json(value);
  };
  for (const auto key : {kQueueLabel, kPriorityClassLabel}) {
    if (const auto value = metadata_of(*group.owner, "labels", key); !value.empty()) set("labels", key, value);
  }
  set("labels", kManagedLabel, "true");
  const auto identifiers = gates.identifier_annotations ? "annotations" : "labels";
  set(identifiers, kPodGroupName, group.name);
  set(identifiers, kPrebuiltWorkload, group.name);
  set("annotations", kPodGroupTotalCount, std::to_string(group.total));
  if (group.fast_admission) set("annotations", kPodGroupFastAdmission, "true");
  set("annotations", kPodGroupServing, "true");
  if (!group.pod_index_label.empty()) set("annotations", kPodGroupPodIndexLabel, group.pod_index_label);
  set("annotations", kRoleHash, group.role_of(*pod));
  if (patch.as_object().empty()) return std::nullopt;
  return PodAction{pod, JobPatch{std::move(patch), "", true}};
}

}  // namespace berth::jobs
