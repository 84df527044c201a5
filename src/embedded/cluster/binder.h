// Binds pending pods to nodes: a minimal kube-scheduler with the features that pods rely on (resources, node
// selectors, node affinity, taints, scheduling gates, claims of devices). It tells why a pod gets no node in the
// condition PodScheduled and in an event FailedScheduling: again when the reason changes, but not more often than each
// half minute.
// https://kubernetes.io/docs/concepts/scheduling-eviction/kube-scheduler/
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "api/core/pod_resources.h"
#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "base/lifetime.h"
#include "embedded/cluster/devices/claims.h"
#include "embedded/cluster/free_capacity.h"
#include "kube/event_recorder.h"
#include "kube/informer.h"

namespace berth::cluster {

class Binder {
 public:
  // The caches call pod_changed() and node_changed(). `pods` and `claims` must outlive the binder.
  Binder(api::RestClient& client, Executor& executor, const kube::Informer& pods, devices::Claims& claims);

  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  void node_changed(const JsonPtr& old, const JsonPtr& now);
  void claims_changed() { round_soon(); }
  const FreeCapacity& capacity() const { return capacity_; }

 private:
  void forget(const std::string& key);
  void round_soon();
  void round();
  FreeCapacity::Also devices_of(const Json& pod);
  void place(const std::string& key, const JsonPtr& pod, const std::string& node, api::ResourceList requests);
  void bind(const std::string& key, const JsonPtr& pod, const std::string& node);
  void try_again(const std::string& key);
  void report_unschedulable(const std::string& key, const Json& pod, const api::ResourceList& requests);

  api::RestClient& client_;
  Executor& executor_;
  const kube::Informer& pods_;
  devices::Claims& claims_;
  FreeCapacity capacity_;          // includes bindings that are not confirmed yet
  std::set<std::string> waiting_;  // keys of pods without a node
  kube::EventRecorder recorder_;
  std::map<std::string, Time> reported_;  // when those that wait were told why
  bool round_posted_ = false;
  Lifetime lifetime_;
};

}  // namespace berth::cluster
