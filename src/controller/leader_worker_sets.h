// The LeaderWorkerSets of the cluster as owners of groups of pods, see served_sets.h. Their pods name the set in a
// label, so the group of a pod is known only when its set is.
//
// While a cluster does not serve LeaderWorkerSets, nothing waits for them. The cache keeps trying, with a growing
// delay.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "controller/decoded_workloads.h"
#include "controller/group_listener.h"
#include "controller/managed_objects.h"
#include "controller/served_sets.h"
#include "controller/shell.h"
#include "kube/informer.h"

namespace berth::controller {

class LeaderWorkerSets {
 public:
  // All must outlive it.
  LeaderWorkerSets(Shell& shell, const ManagedObjects& managed, const DecodedWorkloads& workloads,
                   GroupListener& listener);

  void read();  // starts the cache
  void look_at_all();
  // The cache of pods has something new.
  void pod_changed(const JsonPtr& old, const JsonPtr& now);

  // See jobs::ServedGroup.
  std::optional<std::string> group_of(const Json& pod) const;
  // See ServedSets::group(). Also knows groups that a set had before, by their workload.
  jobs::ServedGroupPtr group(std::string_view ns, std::string_view name) const;
  // Whether this is a reference to a set that the cache does not have.
  bool lacks(std::string_view ns, const api::OwnerReference& owner) const;
  // Whether a set may own the workload that was not read yet.
  bool may_be_owned(const api::kueue::Workload& workload) const;

 private:
  void set_changed(const JsonPtr& old, const JsonPtr& now);
  void listed(const api::RestResponse& response);
  void know();
  void report_about_limit(const Json& set);

  Shell& shell_;
  const ManagedObjects& managed_;
  const DecodedWorkloads& workloads_;
  GroupListener& listener_;
  kube::Informer sets_;
  ServedSets served_;
  bool known_ = false;
  int reported_ = 0;  // the last answer to a list that was logged
  // The uids of pods that name a set, by the key of the set.
  std::map<std::string, std::set<std::string>, std::less<>> pods_;
  std::map<std::string, std::string, std::less<>> set_of_pod_;  // the key of the set, by the uid of the pod
  std::map<std::string, std::int64_t, std::less<>> too_many_;   // the last number of groups that was told, by uid
};

}  // namespace berth::controller
