// The pretend cluster: nodes and what looks after them, a binder, a kubelet for all nodes, a cluster
// autoscaler and the Job controller, on one connection to an API server.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"

namespace berth::cluster {

struct ClusterOptions {
  std::string nodes;                 // a shape such as 2x4x8 (see nodes.h); empty: none are made
  std::string node_resources;        // such as cpu=96,memory=256Gi
  std::vector<Json> node_manifests;  // Node objects to make besides
  // What the autoscaler may add: RACKSxNODES, in a block of its own behind those of `nodes`, with
  // node_resources; empty: nothing.
  std::string scale_up;
  Duration provisioning_delay = std::chrono::seconds(30);  // until new nodes are there
  // False: nobody binds or runs pods or looks after nodes: nodes and pods are what others make of them.
  bool machines = true;
  bool job_controller = true;  // false: Jobs are somebody else's, as those of a real cluster are
  bool vcjobs = false;         // true: Volcano's jobs and PodGroups are looked after, too; the server has to serve their kinds
};

class PretendCluster {
 public:
  // Both must outlive the cluster. Errors name the option that is wrong.
  static Result<std::unique_ptr<PretendCluster>> make(api::RestClient& client, Executor& executor,
                                                      const ClusterOptions& options);
  ~PretendCluster();

  // Makes the nodes that are missing and begins to work. Nodes that others apply later join too.
  void start();

 private:
  struct Impl;
  explicit PretendCluster(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::cluster
