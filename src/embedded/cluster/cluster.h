// The pretend cluster: nodes and their controllers, a binder, a kubelet for all nodes, a cluster autoscaler, the
// controllers of Jobs, Deployments, ReplicaSets and StatefulSets, and operators of other kinds of jobs, with one client
// for an API server.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "jobs/kinds/job_kind.h"

namespace berth::cluster {

struct ClusterOptions {
  std::string nodes;                 // a shape such as 2x4x8 (see nodes.h); empty: no nodes are created
  std::string node_resources;        // such as cpu=96,memory=256Gi
  std::vector<Json> node_manifests;  // Node objects to create in addition
  // Devices that each node has, such as gpu.example.com=8 (see devices/driver.h); empty: none.
  std::string devices;
  // Nodes that the autoscaler may add: RACKSxNODES in a block of its own after those of `nodes`, with node_resources.
  // Empty: none.
  std::string scale_up;
  Duration provisioning_delay = std::chrono::seconds(30);  // until new nodes exist
  // False: no binder, no kubelet, no node controllers and no autoscaler: others write the nodes and pods.
  bool runs_nodes = true;
  bool job_controller = true;  // false: another Job controller runs, as in a real cluster
  // The controllers of Deployments, ReplicaSets and StatefulSets. False: others run, as in a real cluster.
  bool apps_controllers = true;
  // true: also run the controller of LeaderWorkerSets
  bool leader_worker_sets = false;
  // The pretend operators of these kinds run, too, for jobs whose kind the server serves.
  std::vector<jobs::kinds::JobKindPtr> kinds;
  // true: also run the controller of Volcano's Jobs and PodGroups; the server must serve their kinds
  bool vcjobs = false;
};

class PretendCluster {
 public:
  // Both must outlive the cluster. An error names the option that is wrong.
  static Result<std::unique_ptr<PretendCluster>> make(api::RestClient& client, Executor& executor,
                                                      const ClusterOptions& options);
  ~PretendCluster();

  // Creates the nodes that do not exist and starts. Nodes that others create later join too.
  void start();

 private:
  struct Impl;
  explicit PretendCluster(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::cluster
