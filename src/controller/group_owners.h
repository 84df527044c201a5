// The owners of groups of pods: StatefulSets and LeaderWorkerSets. Each makes the workloads of its groups.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/kueue/webhooks/owners.h"
#include "controller/decoded_workloads.h"
#include "controller/leader_worker_sets.h"
#include "controller/managed_objects.h"
#include "controller/shell.h"
#include "controller/stateful_sets.h"
#include "jobs/job_facts.h"
#include "kube/informer.h"

namespace berth::controller {

class GroupOwners {
 public:
  // `listener` may be null: pods are not managed. All must outlive it.
  GroupOwners(Shell& shell, const ManagedObjects& managed, const DecodedWorkloads& workloads,
              kube::Informer& stateful_sets, GroupListener* listener);

  void read();  // starts the cache of LeaderWorkerSets
  void look_at_all();
  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  // A workload with the name of a group is new, finished or gone.
  void workload_changed(const std::string& ns, std::string_view name) const;

  // The name of the group that the owner of this pod has put it into; nullopt: no owner has.
  std::optional<std::string> group_of(const Json& pod) const;
  // A group as its owner has it; null when there is no such owner.
  jobs::ServedGroupPtr group(std::string_view ns, std::string_view name) const;
  // An owner of the workload that no cache has: it is gone, or its watch is late.
  std::optional<api::kueue::UnknownOwner> unknown_owner(const api::kueue::Workload& workload) const;
  // Whether a set that was not read yet may own the workload.
  bool may_be_owned(const api::kueue::Workload& workload) const;

 private:
  // Null: they are not managed.
  std::unique_ptr<StatefulSets> stateful_sets_;
  std::unique_ptr<LeaderWorkerSets> leader_worker_sets_;
};

}  // namespace berth::controller
