#include "controller/decoded_workloads.h"

#include <memory>
#include <utility>

#include "api/kueue/types.h"
#include "api/meta.h"
#include "api/resource_version.h"
#include "base/assert.h"
#include "base/planted.h"
#include "jobs/compose.h"
#include "jobs/pods/pod_group.h"
#include "kube/decoded_objects.h"

namespace berth::controller {
namespace {

using jobs::WorkloadPtr;

bool is_finished(const api::kueue::Workload& workload) {
  return api::is_true(workload.status.conditions, api::kueue::kFinished);
}

bool ended_without_job(const api::kueue::Workload& workload) {
  return workload.meta.owners.empty() && !jobs::is_group_workload(workload) &&
         !workload.meta.labels.contains(std::string(jobs::kJobUidLabel)) && is_finished(workload);
}

// What is kept of a finished workload: there are many, and what led to its end takes half of the memory of each. It is
// still known that it was admitted, in which cluster queue and with how many pods.
WorkloadPtr without_history(const api::kueue::Workload& finished) {
  auto kept = std::make_shared<api::kueue::Workload>(finished);
  api::Conditions conditions;
  conditions.reserve(3);
  for (const auto type : {api::kueue::kQuotaReserved, api::kueue::kAdmitted, api::kueue::kFinished}) {
    const auto* condition = api::find_condition(finished.status.conditions, type);
    if (condition == nullptr) continue;
    conditions.push_back(*condition);
    if (type != api::kueue::kFinished) conditions.back().message = {};
  }
  kept->status.conditions = std::move(conditions);
  if (kept->status.admission) {
    for (auto& assignment : kept->status.admission->pod_set_assignments) {
      assignment.flavors.clear();
      assignment.resource_usage.clear();
      assignment.topology_assignment.reset();
    }
  }
  kept->status.resource_requests = {};
  return kept;
}

// A server counts the generation up with each change of the spec (Kubernetes API conventions, "metadata").
bool has_spec_of(const Json& now, const api::ObjectMeta& before) {
  return before.generation != 0 && int_at(now, {"metadata", "generation"}) == before.generation &&
         string_at(now, {"metadata", "uid"}) == before.uid;
}

}  // namespace

DecodedWorkloads::DecodedWorkloads(Shell& shell, kube::Informer& cache, Handler handler)
    : shell_(shell), cache_(cache), handler_(std::move(handler)) {
  cache_.on_change([this](const JsonPtr& old, const JsonPtr& now) { changed(old, now); });
}

WorkloadPtr DecodedWorkloads::find(const std::string& key) const {
  const auto it = workloads_.find(key);
  return it == workloads_.end() ? nullptr : it->second;
}

bool DecodedWorkloads::seen(std::string_view version) const {
  return api::version_number(cache_.resource_version()) >= api::version_number(version);
}

// Null: no version can be decoded. `before` is the version before this one, or null.
WorkloadPtr DecodedWorkloads::decode(const WorkloadPtr& before, const Json& now) {
  const bool same_spec = before && has_spec_of(now, before->meta);
  const auto share = [&, i = std::size_t{0}](const Json& pod_template) mutable {
    return same_spec && i < before->pod_sets.size() ? before->pod_sets[i++].template_ : templates_.share(pod_template);
  };
  auto workload = api::kueue::decode_workload(now, share);
  if (workload) {
    shell_.unreadable.readable(now);
  } else {
    shell_.unreadable.unreadable(now, workload.error().message);
    if (const auto leaving = kube::leaving_object(now)) workload = api::kueue::decode_workload(*leaving, share);
  }
  if (!workload) return nullptr;
  templates_.share_requests(*workload);
  return std::make_shared<const api::kueue::Workload>(std::move(*workload));
}

void DecodedWorkloads::changed(const JsonPtr& old, const JsonPtr& now) {
  const std::string key = api::object_key(now ? *now : *old);
  const auto known = workloads_.find(key);
  const WorkloadPtr before = known == workloads_.end() ? nullptr : known->second;
  if (!now) {
    shell_.unreadable.readable(*old);
    BERTH_INVARIANT(before || !planted(Planted::kForgottenWorkload));
    return gone(key, before, api::decode_meta(*old));
  }
  const WorkloadPtr after = decode(before, *now);
  if (!after) {
    // If `before` was another workload of the same name, that one is gone.
    if (before && before->meta.uid != string_at(*now, {"metadata", "uid"})) gone(key, before, before->meta);
    return;
  }
  const WorkloadPtr kept = is_finished(*after) ? without_history(*after) : after;
  if (!ended_without_job(*after)) {
    if (before) {
      known->second = kept;
    } else {
      workloads_.emplace(key, kept);
    }
  } else if (before) {
    workloads_.erase(known);
  }
  shell_.feed(engine::WorkloadSeen{after});
  // A version without history is compared with one without history.
  const bool was_finished = before && before->meta.uid == after->meta.uid && is_finished(*before);
  handler_(key, before, was_finished ? kept : after, kept);
}

void DecodedWorkloads::gone(const std::string& key, const WorkloadPtr& before, const api::ObjectMeta& meta) {
  workloads_.erase(key);
  shell_.feed(engine::WorkloadGone{meta.ns, meta.name, meta.uid});
  handler_(key, before, nullptr, nullptr);
}

}  // namespace berth::controller
