// The StatefulSets of the cluster as owners of groups of pods, see served_sets.h. Each has one group. Its name depends
// on what releases of Kueue wrote before: on the template of the set and on the workloads.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "controller/decoded_workloads.h"
#include "controller/group_listener.h"
#include "controller/managed_objects.h"
#include "controller/served_sets.h"
#include "jobs/pods/stateful_set.h"
#include "kube/informer.h"

namespace berth::controller {

class StatefulSets {
 public:
  // All must outlive it. `annotations`: an annotation of a pod may name its group.
  StatefulSets(kube::Informer& sets, const ManagedObjects& managed, const DecodedWorkloads& workloads,
               GroupListener& listener, bool annotations);

  void look_at_all() const;
  // See jobs::ServedGroup.
  std::optional<std::string> group_of(const Json& pod) const;
  // See ServedSets::group().
  jobs::ServedGroupPtr group(std::string_view ns, std::string_view name) const;
  // Whether this is a reference to a set that the cache does not have.
  bool lacks(std::string_view ns, const api::OwnerReference& owner) const;
  // A workload with the name of a group is new, finished or gone: the set may have another group now.
  void workload_changed(const std::string& ns, std::string_view name) const;

 private:
  std::string name_in(std::string_view ns, const jobs::StatefulSetGroups& groups, const Json* set) const;
  void look_at(const std::string& ns, const std::string& group, bool gone) const;

  kube::Informer& sets_;
  const DecodedWorkloads& workloads_;
  GroupListener& listener_;
  const bool annotations_;
  ServedSets served_;
};

}  // namespace berth::controller
