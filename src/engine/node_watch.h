// Tracks nodes, the workloads with places on them, and the running pods of each workload per node. Decides which
// nodes count as failed for a workload (KEP-2724, failed node replacement).
//
// The cost of a node event is proportional to the workloads with places on that node. Topology assignments identify a
// node by its label kubernetes.io/hostname, which may differ from its name; a node without this label has no places.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/node.h"
#include "api/kueue/pod_placement.h"
#include "api/kueue/types.h"
#include "base/time.h"
#include "engine/options.h"
#include "engine/ptr.h"
#include "engine/quota/ids.h"

namespace berth::engine {

class NodeWatch {
 public:
  explicit NodeWatch(const Options& options);

  // --- Cluster state. Each method returns the workloads that must be looked at again.
  std::vector<WorkloadId> set_node(const Ptr<api::Node>& node);
  std::vector<WorkloadId> remove_node(const std::string& name);
  std::vector<WorkloadId> set_pod(const Ptr<api::kueue::PodPlacement>& pod);
  std::vector<WorkloadId> remove_pod(const std::string& uid);

  // --- Workloads: their topology assignments and, by pod set of the admission, the tolerations of their pods.
  // Assignments whose lowest level is not the hostname are not watched. Repeating a call costs one comparison.
  using Tolerations = std::vector<std::vector<api::Toleration>>;
  void watch(WorkloadId workload, const std::string& key, const api::kueue::Admission& admission,
             Tolerations tolerations);
  void forget(WorkloadId workload);

  // The hostnames of the workload's failed nodes, and when the next node will count as failed (nullopt: no time
  // changes that). A node in `marked` (status.unhealthyNodes) stays failed until it is healthy again, whatever its
  // pods do. A node is ignored when every pod set with places on it is provided for: some of its pods are
  // `reclaimable`, and all pods that it still needs run on healthy nodes of its assignment.
  struct Verdict {
    std::vector<std::string> failed;
    std::optional<Time> next;
  };
  using Reclaimable = std::vector<api::kueue::ReclaimablePod>;
  Verdict verdict(WorkloadId workload, const std::vector<std::string>& marked, const Reclaimable& reclaimable,
                  Time now) const;

  // Whether a pod of the workload with this key runs on some node.
  bool has_running_pod(const std::string& key) const;

  // --- What was seen, by name and by UID: for rebuilding the scheduler.
  const std::map<std::string, Ptr<api::Node>>& nodes() const { return nodes_; }
  const std::map<std::string, Ptr<api::kueue::PodPlacement>>& pods() const { return pods_; }

 private:
  using Host = std::string;
  // a bit for each pod set with places on the node: at most 18 (the limit of the CRD schema)
  using PodSets = std::uint32_t;
  struct Watched {
    std::string key;
    std::vector<api::kueue::TopologyAssignmentPtr> assignments;
    std::vector<std::string> pod_sets;  // their names
    Tolerations tolerations;
    std::set<Host> suspects;  // hosts with any Trouble
  };
  struct Trouble {
    bool gone = false;       // deleted, or its Ready condition is Unknown or missing
    bool renamed = false;    // its hostname label changed: no node selector of a pod matches it
    bool not_ready = false;  // since Node::ready_since
    bool tainted = false;    // with a taint that some pods there do not tolerate forever
    bool any() const { return gone || renamed || not_ready || tainted; }
  };

  const api::Node* node_of(const Host& host) const;
  Trouble trouble(const Watched& watched, const Host& host, PodSets pod_sets) const;
  bool failed(const Watched& watched, const Host& host, bool marked, Time now, std::optional<Time>& next) const;
  PodSets provided_for(const Watched& watched, const Reclaimable& reclaimable) const;
  std::string node_name(const Host& host) const;
  int progress(const std::string& key, const Host& host, const std::string& pod_set) const;
  bool has_progress(const std::string& key, const Host& host) const;
  void look_at(const Host& host, std::vector<WorkloadId>& concerned);
  void count(const api::kueue::PodPlacement& pod, int by, std::vector<WorkloadId>& concerned);

  Options options_;
  std::map<std::string, Ptr<api::Node>> nodes_;                // by name
  std::set<std::pair<Host, std::string>> names_;               // (hostname, node name)
  std::map<std::string, Ptr<api::kueue::PodPlacement>> pods_;  // by UID
  std::map<std::array<std::string, 3>, int> progress_;         // running pods, by workload key, node name and pod set
  std::map<WorkloadId, Watched> watched_;
  std::map<std::string, WorkloadId> ids_;  // of watched workloads, by key
  std::map<Host, std::map<WorkloadId, PodSets>> on_host_;
};

}  // namespace berth::engine
