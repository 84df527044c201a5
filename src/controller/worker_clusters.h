// The MultiKueueClusters: one connection for each, from the kubeconfig in its Secret, and the conditions that say how
// it is. Secrets are read in Berth's own namespace only, each one by its name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/lifetime.h"
#include "controller/shell.h"
#include "controller/work_queue.h"
#include "controller/worker_cluster.h"
#include "kube/informer.h"

namespace berth::controller {

class WorkerClusters {
 public:
  struct Handlers {
    std::function<void(const std::string& key)> workload_changed;   // on any cluster; "namespace/name"
    std::function<void(const std::string& cluster)> state_changed;  // a cluster is new, gone, connected or lost
    std::function<void(WorkerCluster& cluster, const std::string& key, WorkQueue::Finish finish)> work;
  };

  // `shell` must outlive it. `sender`: who makes the objects on workers, as far as it is known when it is called.
  WorkerClusters(Shell& shell, WorkerCluster::SenderOf sender, Handlers handlers);

  void start();        // this process leads: connects
  bool ready() const;  // the MultiKueueClusters are known

  // All clusters watch jobs of this kind from now on. It must outlive this object. The first call comes before start():
  // without jobs of that kind a cluster is of no use.
  void need(const multikueue::RemoteKind& kind);

  // Null: there is no MultiKueueCluster of this name.
  WorkerCluster* find(std::string_view name);
  std::vector<WorkerCluster*> all();  // in order of the names
  // Since when the cluster is not connected, also of a name without a MultiKueueCluster.
  Time lost_since(const std::string& name);

 private:
  struct Known {
    JsonPtr object;
    std::string location;                    // the name of the Secret; "": it has none
    std::unique_ptr<kube::Informer> secret;  // null: it has none
    std::unique_ptr<WorkerCluster> cluster;
  };

  void changed(const JsonPtr& old, const JsonPtr& now);
  void update(const std::string& name, const JsonPtr& object);
  void watch_secret(const std::string& name, Known& known);
  void read_secret(const std::string& name);
  void reported(const std::string& name);
  void write_active(const std::string& name, WorkQueue::Finish finish);

  Shell& shell_;
  const WorkerCluster::SenderOf sender_;
  const Handlers handlers_;
  kube::Informer objects_;
  bool started_ = false;
  std::vector<const multikueue::RemoteKind*> needed_;
  std::map<std::string, Known, std::less<>> known_;
  std::map<std::string, bool> connected_;  // as handlers_ know it
  std::map<std::string, Time> absent_;     // since when a name without an object was asked for
  WorkQueue conditions_;
  Lifetime lifetime_;
};

}  // namespace berth::controller
