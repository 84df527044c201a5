#include "controller/group_owners.h"

#include <memory>

#include "jobs/pods/leader_worker_set.h"

namespace berth::controller {

GroupOwners::GroupOwners(Shell& shell, const ManagedObjects& managed, const DecodedWorkloads& workloads,
                         kube::Informer& stateful_sets, GroupListener* listener) {
  if (listener == nullptr) return;
  if (shell.options.manage_stateful_sets)
    stateful_sets_ = std::make_unique<StatefulSets>(stateful_sets, managed, workloads, *listener,
                                                    shell.options.jobs.identifier_annotations);
  if (shell.options.manage_leader_worker_sets)
    leader_worker_sets_ = std::make_unique<LeaderWorkerSets>(shell, managed, workloads, *listener);
}

void GroupOwners::read() {
  if (leader_worker_sets_) leader_worker_sets_->read();
}

void GroupOwners::look_at_all() {
  if (stateful_sets_) stateful_sets_->look_at_all();
  if (leader_worker_sets_) leader_worker_sets_->look_at_all();
}

void GroupOwners::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  if (leader_worker_sets_) leader_worker_sets_->pod_changed(old, now);
}

void GroupOwners::workload_changed(const std::string& ns, std::string_view name) const {
  if (stateful_sets_) stateful_sets_->workload_changed(ns, name);
}

std::optional<std::string> GroupOwners::group_of(const Json& pod) const {
  if (stateful_sets_) {
    if (auto group = stateful_sets_->group_of(pod)) return group;
  }
  return leader_worker_sets_ ? leader_worker_sets_->group_of(pod) : std::nullopt;
}

jobs::ServedGroupPtr GroupOwners::group(std::string_view ns, std::string_view name) const {
  auto group = stateful_sets_ ? stateful_sets_->group(ns, name) : nullptr;
  return group || !leader_worker_sets_ ? group : leader_worker_sets_->group(ns, name);
}

std::optional<api::kueue::UnknownOwner> GroupOwners::unknown_owner(const api::kueue::Workload& workload) const {
  for (const auto& owner : workload.meta.owners) {
    const bool unknown = (stateful_sets_ && stateful_sets_->lacks(workload.meta.ns, owner)) ||
                         (leader_worker_sets_ && leader_worker_sets_->lacks(workload.meta.ns, owner));
    if (!unknown) continue;
    const auto& kind =
        owner.kind == jobs::stateful_set_kind().kind ? jobs::stateful_set_kind() : jobs::leader_worker_set_kind();
    return api::kueue::UnknownOwner{kind.resource, workload.meta.ns, owner.name, owner.uid};
  }
  return std::nullopt;
}

bool GroupOwners::may_be_owned(const api::kueue::Workload& workload) const {
  return leader_worker_sets_ && leader_worker_sets_->may_be_owned(workload);
}

}  // namespace berth::controller
