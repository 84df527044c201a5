#include "engine/node_watch.h"

#include <algorithm>

#include "api/core/node_labels.h"
#include "api/meta.h"
#include "engine/lifecycle/topology.h"

namespace berth::engine {

using api::kueue::TopologyAssignmentPtr;

namespace {

// How long a node may be NotReady before it counts as failed, when the termination of its pods is not awaited.
constexpr std::chrono::seconds kNotReadyFor{30};

// Empty: the node has no hostname label.
std::string host_of(const api::Node& node) {
  const auto label = node.labels.find(std::string(api::kHostnameLabel));
  return label == node.labels.end() ? std::string() : label->second;
}

bool same_health(const api::Node& a, const api::Node& b) {
  return host_of(a) == host_of(b) && a.ready == b.ready && a.ready_since == b.ready_since && a.taints == b.taints;
}

bool same(const std::vector<TopologyAssignmentPtr>& a, const std::vector<TopologyAssignmentPtr>& b) {
  return std::ranges::equal(a, b, [](const TopologyAssignmentPtr& x, const TopologyAssignmentPtr& y) {
    return x == y || (x && y && *x == *y);
  });
}

}  // namespace

NodeWatch::NodeWatch(const Options& options) : options_(options) {}

std::vector<WorkloadId> NodeWatch::set_node(const Ptr<api::Node>& node) {
  std::vector<WorkloadId> concerned;
  auto& known = nodes_[node->name];
  const auto before = std::exchange(known, node);
  if (before && same_health(*before, *node)) return concerned;
  if (before) names_.erase({host_of(*before), before->name});
  names_.insert({host_of(*node), node->name});
  std::set<Host> hosts{host_of(*node), node->name};
  if (before) hosts.insert(host_of(*before));
  for (const Host& host : hosts) look_at(host, concerned);
  return concerned;
}

std::vector<WorkloadId> NodeWatch::remove_node(const std::string& name) {
  std::vector<WorkloadId> concerned;
  const auto it = nodes_.find(name);
  if (it == nodes_.end()) return concerned;
  const Host host = host_of(*it->second);
  names_.erase({host, name});
  nodes_.erase(it);
  look_at(host, concerned);
  if (host != name) look_at(name, concerned);
  return concerned;
}

std::vector<WorkloadId> NodeWatch::set_pod(const Ptr<api::kueue::PodPlacement>& pod) {
  std::vector<WorkloadId> concerned;
  if (!pod->holds_node()) return remove_pod(pod->uid);
  const auto before = std::exchange(pods_[pod->uid], pod);
  if (before && *before == *pod) return concerned;
  count(*pod, 1, concerned);
  if (before) count(*before, -1, concerned);
  return concerned;
}

std::vector<WorkloadId> NodeWatch::remove_pod(const std::string& uid) {
  std::vector<WorkloadId> concerned;
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return concerned;
  const auto before = it->second;
  pods_.erase(it);
  count(*before, -1, concerned);
  return concerned;
}

void NodeWatch::watch(WorkloadId workload, const std::string& key, const api::kueue::Admission& admission,
                      Tolerations tolerations) {
  // Drop tolerations with tolerationSeconds: they end.
  for (auto& each : tolerations) std::erase_if(each, [](const auto& t) { return t.toleration_seconds.has_value(); });
  std::vector<TopologyAssignmentPtr> assignments;
  std::vector<std::string> names;
  bool any = false;
  for (const auto& ps : admission.pod_set_assignments) {
    names.push_back(ps.name);
    const bool on_nodes = ps.topology_assignment && lifecycle::places_are_nodes(*ps.topology_assignment);
    assignments.push_back(on_nodes ? ps.topology_assignment : nullptr);
    any = any || on_nodes;
  }
  if (const auto known = watched_.find(workload); known != watched_.end()) {
    const Watched& before = known->second;
    if (any && same(before.assignments, assignments) && before.pod_sets == names && before.tolerations == tolerations)
      return;
    forget(workload);
  }
  if (!any) return;
  ids_[key] = workload;
  Watched& watched = watched_[workload];
  watched = {key, std::move(assignments), std::move(names), std::move(tolerations), {}};
  std::map<Host, PodSets> hosts;
  for (std::size_t i = 0; i < watched.assignments.size(); ++i) {
    if (!watched.assignments[i]) continue;
    for (const auto& domain : watched.assignments[i]->domains) hosts[domain.values.back()] |= PodSets{1} << i;
  }
  for (const auto& [host, pod_sets] : hosts) {
    on_host_[host][workload] = pod_sets;
    if (trouble(watched, host, pod_sets).any()) watched.suspects.insert(host);
  }
}

void NodeWatch::forget(WorkloadId workload) {
  const auto it = watched_.find(workload);
  if (it == watched_.end()) return;
  for (const auto& assignment : it->second.assignments) {
    if (!assignment) continue;
    for (const auto& domain : assignment->domains) {
      const auto host = on_host_.find(domain.values.back());
      if (host == on_host_.end()) continue;
      host->second.erase(workload);
      if (host->second.empty()) on_host_.erase(host);
    }
  }
  ids_.erase(it->second.key);
  watched_.erase(it);
}

NodeWatch::Verdict NodeWatch::verdict(WorkloadId workload, const std::vector<std::string>& marked,
                                      const Reclaimable& reclaimable, Time now) const {
  Verdict out;
  const auto it = watched_.find(workload);
  if (it == watched_.end() || it->second.suspects.empty()) return out;
  const PodSets provided = provided_for(it->second, reclaimable);
  for (const Host& host : it->second.suspects) {
    if ((on_host_.at(host).at(workload) & ~provided) == 0) continue;
    const bool is_marked = std::ranges::find(marked, host) != marked.end();
    if (failed(it->second, host, is_marked, now, out.next)) out.failed.push_back(host);
  }
  return out;
}

bool NodeWatch::failed(const Watched& watched, const Host& host, bool marked, Time now,
                       std::optional<Time>& next) const {
  const PodSets pod_sets = on_host_.at(host).at(ids_.at(watched.key));
  const Trouble what = trouble(watched, host, pod_sets);
  if (what.gone || (marked && what.any())) return true;
  const bool idle = !has_progress(watched.key, host);
  if (what.renamed) return idle;
  if (what.tainted && options_.replace_on_taints && idle) return true;
  if (!what.not_ready) return false;
  if (options_.replace_on_pod_termination && (idle || !options_.replace_not_ready)) return idle;
  const Time deadline = node_of(host)->ready_since + kNotReadyFor;
  if (deadline > now && (!next || deadline < *next)) next = deadline;
  return deadline <= now;
}

const api::Node* NodeWatch::node_of(const Host& host) const {
  const auto it = names_.lower_bound({host, ""});
  return it == names_.end() || it->first != host ? nullptr : nodes_.at(it->second).get();
}

NodeWatch::Trouble NodeWatch::trouble(const Watched& watched, const Host& host, PodSets pod_sets) const {
  Trouble out;
  const api::Node* node = node_of(host);
  out.renamed = node == nullptr && nodes_.contains(host);
  out.gone = !out.renamed && (node == nullptr || !node->ready);
  if (node == nullptr || out.gone) return out;
  out.not_ready = !*node->ready;
  for (std::size_t i = 0; i < watched.tolerations.size(); ++i) {
    const bool here = (pod_sets >> i & 1) != 0;
    out.tainted = out.tainted || (here && api::find_untolerated(node->taints, watched.tolerations[i]) != nullptr);
  }
  return out;
}

// The pod sets of which some pods ended for good, while all pods still needed run on healthy nodes.
NodeWatch::PodSets NodeWatch::provided_for(const Watched& watched, const Reclaimable& reclaimable) const {
  PodSets out = 0;
  for (std::size_t i = 0; i < watched.assignments.size(); ++i) {
    const auto ended = std::ranges::find(reclaimable, watched.pod_sets[i], &api::kueue::ReclaimablePod::name);
    if (!watched.assignments[i] || ended == reclaimable.end() || ended->count <= 0) continue;
    std::int64_t needed = -std::int64_t{ended->count};
    for (const auto& domain : watched.assignments[i]->domains) {
      needed += domain.count;
      const Host& host = domain.values.back();
      if (!watched.suspects.contains(host))
        needed -= std::min(domain.count, progress(watched.key, host, watched.pod_sets[i]));
    }
    if (needed <= 0) out |= PodSets{1} << i;
  }
  return out;
}

std::string NodeWatch::node_name(const Host& host) const {
  const auto* node = node_of(host);
  return node != nullptr ? node->name : host;
}

int NodeWatch::progress(const std::string& key, const Host& host, const std::string& pod_set) const {
  const auto it = progress_.find({key, node_name(host), pod_set});
  return it == progress_.end() ? 0 : it->second;
}

bool NodeWatch::has_running_pod(const std::string& key) const {
  const auto it = progress_.lower_bound({key, "", ""});
  return it != progress_.end() && it->first[0] == key;
}

bool NodeWatch::has_progress(const std::string& key, const Host& host) const {
  const auto any = [&](const std::string& node) {
    const auto it = progress_.lower_bound({key, node, ""});
    return it != progress_.end() && it->first[0] == key && it->first[1] == node;
  };
  return any(host) || any(node_name(host));
}

void NodeWatch::look_at(const Host& host, std::vector<WorkloadId>& concerned) {
  const auto here = on_host_.find(host);
  if (here == on_host_.end()) return;
  for (const auto& [workload, pod_sets] : here->second) {
    Watched& watched = watched_.at(workload);
    const bool unwell = trouble(watched, host, pod_sets).any();
    const bool was = watched.suspects.contains(host);
    if (unwell && !was) watched.suspects.insert(host);
    if (!unwell && was) watched.suspects.erase(host);
    if (unwell || was) concerned.push_back(workload);
  }
}

// A pod makes progress when it is bound and neither terminated nor terminating. A pod that only its node selector
// ties to a node does not count: if the node is unhealthy, the scheduler will never bind the pod.
void NodeWatch::count(const api::kueue::PodPlacement& pod, int by, std::vector<WorkloadId>& concerned) {
  if (pod.workload.empty() || !pod.bound || pod.terminated || pod.terminating) return;
  const std::string key = api::object_key(pod.ns, pod.workload);
  int& pods = progress_[{key, pod.node, pod.pod_set}];
  pods += by;
  if (pods == 0) progress_.erase({key, pod.node, pod.pod_set});
  const auto id = ids_.find(key);
  if (id != ids_.end() && !watched_.at(id->second).suspects.empty()) concerned.push_back(id->second);
}

}  // namespace berth::engine
