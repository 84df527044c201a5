// Binds pending pods to nodes: the smallest kube-scheduler that keeps the promises pods rely on (resources,
// selectors, affinity, taints, gates).
// https://kubernetes.io/docs/concepts/scheduling-eviction/kube-scheduler/
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "api/core/pod_resources.h"
#include "api/core/scheduling.h"
#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "kube/informer.h"

namespace berth::cluster {

class Binder {
 public:
  // Told by the caches; `pods` and `nodes` must outlive the binder.
  Binder(api::RestClient& client, Executor& executor, const kube::Informer& pods,
         const kube::Informer& nodes);
  ~Binder();

  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  void node_changed(const JsonPtr& old, const JsonPtr& now);

 private:
  struct Node {
    api::StringMap labels;
    std::vector<api::Taint> taints;
    bool usable = false;  // ready and not cordoned
    api::ResourceList allocatable, used;
    std::int64_t pods = 0;
  };
  struct Placed {
    std::string node;
    api::ResourceList requests;
  };

  void round_soon();
  void round();
  const std::string* choose(const api::ResourceList& requests, const api::NodeConstraints& constraints) const;
  void bind(const std::string& key, const JsonPtr& pod, const std::string& node, api::ResourceList requests);
  void tell_unschedulable(const std::string& key, const JsonPtr& pod);
  void place(const std::string& key, const std::string& node, api::ResourceList requests);
  void unplace(const std::string& key);

  api::RestClient& client_;
  Executor& executor_;
  const kube::Informer& pods_;
  const kube::Informer& nodes_cache_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, Placed> placed_;  // by pod key; bindings under way included
  std::set<std::string> waiting_;         // keys of pods without a node
  bool round_posted_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace berth::cluster
