#include "controller/group_owners.h"

#include "jobs/pods/stateful_set.h"

namespace berth::controller {

GroupOwners::GroupOwners(Shell& shell, const ManagedObjects& managed, const DecodedWorkloads& workloads,
                         kube::Informer& stateful_sets, GroupListener* listener)
    : with_stateful_sets_(shell.options.manage_stateful_sets),
      stateful_sets_(
          stateful_sets,
          {[](const Json&) { return 1; },
           [](const Json& set, std::int64_t) { return jobs::group_of_stateful_set(set); },
           [](const JsonPtr& set, std::int64_t) { return jobs::served_by_stateful_set(set); }},
          [&managed](const Json& set) { return managed.manages_set(set); },
          [listener](const std::string& ns, const std::string& group, bool gone) {
            if (listener != nullptr) listener->owner_changed(ns, group, gone);
          }) {
  if (with_stateful_sets_ && listener != nullptr)
    stateful_sets.on_change([this](const JsonPtr& old, const JsonPtr& now) { stateful_sets_.set_changed(old, now); });
  if (shell.options.manage_leader_worker_sets && listener != nullptr)
    leader_worker_sets_ = std::make_unique<LeaderWorkerSets>(shell, managed, workloads, *listener);
}

void GroupOwners::read() {
  if (leader_worker_sets_) leader_worker_sets_->read();
}

void GroupOwners::look_at_all() {
  stateful_sets_.look_at_all();
  if (leader_worker_sets_) leader_worker_sets_->look_at_all();
}

void GroupOwners::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  if (leader_worker_sets_) leader_worker_sets_->pod_changed(old, now);
}

std::optional<std::string> GroupOwners::group_of(const Json& pod) const {
  if (with_stateful_sets_) {
    if (auto group = jobs::group_of_stateful_set_pod(pod)) return group;
  }
  return leader_worker_sets_ ? leader_worker_sets_->group_of(pod) : std::nullopt;
}

jobs::ServedGroupPtr GroupOwners::group(std::string_view ns, std::string_view name) const {
  auto group = stateful_sets_.group(ns, name);
  return group || !leader_worker_sets_ ? group : leader_worker_sets_->group(ns, name);
}

bool GroupOwners::may_be_owned(const api::kueue::Workload& workload) const {
  return leader_worker_sets_ && leader_worker_sets_->may_be_owned(workload);
}

}  // namespace berth::controller
