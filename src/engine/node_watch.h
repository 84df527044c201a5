// Which nodes there are, whose places are on them, how many of its pods make progress there, and which nodes count as failed for a
// workload (kueue.md 4.9).
//
// What happens to a node costs as much as there are workloads with places on it. A node is known to assignments by its label
// kubernetes.io/hostname, which may differ from its name; without it no place is on it.
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

#include "engine/engine.h"
#include "engine/quota/ids.h"

namespace berth::engine {

class NodeWatch {
 public:
  explicit NodeWatch(const Options& options);

  // --- The world. Each returns the workloads that have to be looked at again.
  std::vector<WorkloadId> set_node(const Ptr<api::Node>& node);
  std::vector<WorkloadId> remove_node(const std::string& name);
  std::vector<WorkloadId> set_pod(const Ptr<api::PodPlacement>& pod);
  std::vector<WorkloadId> remove_pod(const std::string& uid);

  // --- Workloads: where their places are, and by pod set of the admission what their pods tolerate. Assignments whose lowest level
  // is not the hostname are not watched. Repeating it costs a comparison.
  using Tolerations = std::vector<std::vector<api::Toleration>>;
  void watch(WorkloadId workload, const std::string& key, const api::kueue::Admission& admission, Tolerations tolerations);
  void forget(WorkloadId workload);

  // The nodes of its places that failed, by name, and when the next one will have (none: no time changes that). A node that is in
  // `marked` counts until it is well again, whatever its pods do. A node does not count when only pod sets have places there that
  // need none there any more: those of `reclaimable`, as many of whose pods as are still needed run on other nodes of its places.
  struct Verdict {
    std::vector<std::string> failed;
    std::optional<Time> next;
  };
  using Reclaimable = std::vector<api::kueue::ReclaimablePod>;
  Verdict verdict(WorkloadId workload, const std::vector<std::string>& marked, const Reclaimable& reclaimable, Time now) const;

  // --- What was seen, by name and by UID, for who rebuilds it.
  const std::map<std::string, Ptr<api::Node>>& nodes() const { return nodes_; }
  const std::map<std::string, Ptr<api::PodPlacement>>& pods() const { return pods_; }

 private:
  using Host = std::string;
  using PodSets = std::uint32_t;  // a bit for each pod set with places there: at most 18 (the schema's bound)
  struct Watched {
    std::string key;
    std::vector<api::kueue::TopologyAssignmentPtr> assignments;
    std::vector<std::string> pod_sets;  // their names
    Tolerations tolerations;
    std::set<Host> suspects;  // nodes of its places that are not well
  };
  struct Trouble {
    bool gone = false;       // deleted, or nobody knows whether it is up
    bool renamed = false;    // its hostname is another now: no selector of a pod finds it
    bool not_ready = false;  // since when: Node::ready_since
    bool tainted = false;    // in a way that some of the pods do not tolerate for good
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
  void count(const api::PodPlacement& pod, int by, std::vector<WorkloadId>& concerned);

  Options options_;
  std::map<std::string, Ptr<api::Node>> nodes_;                         // by name
  std::set<std::pair<Host, std::string>> names_;                        // of nodes, by hostname
  std::map<std::string, Ptr<api::PodPlacement>> pods_;                  // by UID
  std::map<std::array<std::string, 3>, int> progress_;                  // pods that run, by workload, node name and pod set
  std::map<WorkloadId, Watched> watched_;
  std::map<std::string, WorkloadId> ids_;                               // of the watched, by key
  std::map<Host, std::map<WorkloadId, PodSets>> on_host_;
};

}  // namespace berth::engine
