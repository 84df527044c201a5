// Builders of API objects for engine tests. Names are always given; everything else has a simple default.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/kueue/types.h"
#include "base/json.h"
#include "base/time.h"
#include "engine/engine.h"

namespace berth::engine::test {

using api::kueue::Workload;

inline constexpr Time kEpoch{std::chrono::seconds(1'800'000'000)};
inline Time at(int seconds) { return kEpoch + std::chrono::seconds(seconds); }

inline Quantity quantity(std::string_view text) { return Quantity::parse(text).value(); }

inline JsonPtr pod_template(std::string_view requests, std::string_view more_spec = "") {
  std::string text = R"({"spec":{"containers":[{"name":"c","resources":{"requests":)";
  text.append(requests).append("}}]").append(more_spec.empty() ? "" : ",").append(more_spec).append("}}");
  return std::make_shared<const Json>(parse_json(text).value());
}

// One pod set "main" of `count` pods that request `cpu` each, owned by a Job.
class WorkloadBuilder {
 public:
  explicit WorkloadBuilder(std::string name, std::string queue = "q") {
    w_.meta.name = name;
    w_.meta.ns = "ns";
    w_.meta.uid = "uid-" + name;
    w_.meta.resource_version = "1";
    w_.meta.generation = 1;
    w_.meta.creation = kEpoch;
    w_.meta.labels["kueue.x-k8s.io/job-uid"] = "job-" + name;
    w_.meta.owners.push_back({"batch/v1", "Job", name, "job-" + name, true, true});
    w_.queue_name = std::move(queue);
    pods(1, "1");
  }
  WorkloadBuilder& pods(int count, std::string_view cpu, std::optional<int> min_count = {}) {
    api::kueue::PodSet ps;
    ps.template_ = pod_template(R"({"cpu":")" + std::string(cpu) + R"("})");
    ps.count = count;
    ps.min_count = min_count;
    w_.pod_sets = {ps};
    return *this;
  }
  WorkloadBuilder& requests(int count, std::string_view requests, std::string_view more_spec = "") {
    pods(count, "1");
    w_.pod_sets[0].template_ = pod_template(requests, more_spec);
    return *this;
  }
  WorkloadBuilder& required(std::string level) {
    w_.pod_sets.at(0).topology_request.emplace().required = std::move(level);
    return *this;
  }
  WorkloadBuilder& priority(int value) { return w_.priority = value, *this; }
  WorkloadBuilder& created(Time t) { return w_.meta.creation = t, *this; }
  WorkloadBuilder& inactive() { return w_.active = false, *this; }
  WorkloadBuilder& ownerless() { return w_.meta.owners.clear(), *this; }
  WorkloadBuilder& max_seconds(int s) { return w_.maximum_execution_time_seconds = s, *this; }
  WorkloadBuilder& annotate(std::string key, std::string value) {
    return w_.meta.annotations[std::move(key)] = std::move(value), *this;
  }
  operator Workload() const { return w_; }  // NOLINT: a builder is its workload
  Workload build() const { return w_; }

 private:
  Workload w_;
};

struct FlavorSpec {
  std::string name, nominal;
  std::optional<std::string> borrowing_limit = {}, lending_limit = {};
};

class ClusterQueueBuilder {
 public:
  explicit ClusterQueueBuilder(std::string name) {
    q_.meta.name = name;
    q_.meta.uid = "uid-" + name;
    q_.meta.resource_version = "1";
    q_.meta.finalizers = {std::string(api::kueue::kFinalizer)};
    q_.namespace_selector = api::LabelSelector::from_json(JsonObject{}).value();
  }
  ClusterQueueBuilder& cpu(const std::vector<FlavorSpec>& flavors) { return group("cpu", flavors); }
  ClusterQueueBuilder& group(const std::string& resource, const std::vector<FlavorSpec>& flavors) {
    api::kueue::ResourceGroup group;
    group.covered_resources = {resource};
    for (const auto& f : flavors) {
      api::kueue::ResourceQuota quota{resource, quantity(f.nominal), {}, {}};
      if (f.borrowing_limit) quota.borrowing_limit = quantity(*f.borrowing_limit);
      if (f.lending_limit) quota.lending_limit = quantity(*f.lending_limit);
      group.flavors.push_back({f.name, {quota}});
    }
    q_.resource_groups.push_back(std::move(group));
    return *this;
  }
  ClusterQueueBuilder& cohort(std::string name) { return q_.cohort_name = std::move(name), *this; }
  ClusterQueueBuilder& stop(api::kueue::StopPolicy policy) { return q_.stop_policy = policy, *this; }
  ClusterQueueBuilder& by_usage(bool on = true) { return q_.admission_by_usage = on, *this; }
  ClusterQueueBuilder& strict() { return q_.queueing_strategy = api::kueue::QueueingStrategy::kStrictFifo, *this; }
  ClusterQueueBuilder& preempt_lower() {
    return q_.within_cluster_queue = api::kueue::WithinClusterQueue::kLowerPriority, *this;
  }
  ClusterQueueBuilder& reclaim_any() { return q_.reclaim_within_cohort = api::kueue::ReclaimWithinCohort::kAny, *this; }
  ClusterQueueBuilder& check(std::string name, std::vector<std::string> on_flavors = {}) {
    return q_.admission_checks.push_back({std::move(name), std::move(on_flavors)}), *this;
  }
  ClusterQueueBuilder& select(std::string_view selector_json) {
    return q_.namespace_selector = api::LabelSelector::from_json(parse_json(selector_json).value()).value(), *this;
  }
  ClusterQueueBuilder& version(std::string v) { return q_.meta.resource_version = std::move(v), *this; }
  ClusterQueueBuilder& deleting(Time t) { return q_.meta.deletion = t, *this; }
  operator api::kueue::ClusterQueue() const { return q_; }  // NOLINT
  api::kueue::ClusterQueue build() const { return q_; }

 private:
  api::kueue::ClusterQueue q_;
};

inline api::kueue::LocalQueue local_queue(std::string name, std::string cluster_queue,
                                          api::kueue::StopPolicy stop = api::kueue::StopPolicy::kNone) {
  api::kueue::LocalQueue q;
  q.meta.name = std::move(name);
  q.meta.ns = "ns";
  q.cluster_queue = std::move(cluster_queue);
  q.stop_policy = stop;
  return q;
}

inline api::kueue::ResourceFlavor flavor(std::string name) {
  api::kueue::ResourceFlavor f;
  f.meta.name = std::move(name);
  f.meta.resource_version = "1";
  f.meta.finalizers = {std::string(api::kueue::kFinalizer)};
  return f;
}

// A flavor with a topology, for the nodes labelled group=g.
inline api::kueue::ResourceFlavor placed_flavor(std::string name, std::string topology) {
  auto f = flavor(std::move(name));
  f.node_labels = {{"group", "g"}};
  f.topology_name = std::move(topology);
  return f;
}

// An admission check that creates ProvisioningRequests, and a report of its controller.
inline api::kueue::AdmissionCheck check(std::string name, bool active = true);
inline api::kueue::AdmissionCheck provisioning_check(std::string name) {
  auto c = check(std::move(name));
  c.controller_name = "kueue.x-k8s.io/provisioning-request";
  return c;
}
inline api::kueue::AdmissionCheckState says(std::string name, api::kueue::CheckState state, std::string message = "") {
  api::kueue::AdmissionCheckState out;
  out.name = std::move(name);
  out.state = state;
  out.message = std::move(message);
  return out;
}

inline api::kueue::AdmissionCheck check(std::string name, bool active) {
  api::kueue::AdmissionCheck c;
  c.meta.name = std::move(name);
  c.meta.resource_version = "1";
  c.meta.finalizers = {std::string(api::kueue::kFinalizer)};
  api::Condition condition;
  condition.type = "Active";
  condition.status = active;
  c.conditions.push_back(condition);
  return c;
}

// An admission of the pod set "main" in one flavor.
inline api::kueue::Admission admission(std::string cluster_queue, std::string flavor, int count, std::string_view cpu) {
  api::kueue::PodSetAssignment assignment;
  assignment.flavors["cpu"] = std::move(flavor);
  assignment.resource_usage["cpu"] = quantity(cpu);
  assignment.count = count;
  return {std::move(cluster_queue), {assignment}};
}

// A topology assignment on nodes, with the number of pods on each.
inline api::kueue::TopologyAssignmentPtr on_nodes(const std::vector<std::pair<std::string, int>>& nodes) {
  auto out = std::make_shared<api::kueue::TopologyAssignment>();
  out->levels = {"kubernetes.io/hostname"};
  for (const auto& [node, pods] : nodes) out->domains.push_back({{node}, pods});
  return out;
}

// A Ready node in a rack, labelled group=g.
class NodeBuilder {
 public:
  explicit NodeBuilder(std::string name, std::string rack = "r1", std::string_view cpu = "4") {
    n_.name = name;
    n_.labels = {{"kubernetes.io/hostname", name}, {"rack", std::move(rack)}, {"group", "g"}};
    n_.ready = true;
    n_.allocatable = {{"cpu", quantity(cpu)}, {"pods", quantity("110")}};
  }
  NodeBuilder& not_ready(Time since) { return n_.ready = false, n_.ready_since = since, *this; }
  NodeBuilder& unknown() { return n_.ready.reset(), *this; }
  NodeBuilder& taint(std::string key, std::string effect) {
    return n_.taints.push_back({std::move(key), "", std::move(effect)}), *this;
  }
  NodeBuilder& label(std::string key, std::string value) { return n_.labels[std::move(key)] = std::move(value), *this; }
  operator api::Node() const { return n_; }  // NOLINT
  Ptr<api::Node> ptr() const { return std::make_shared<const api::Node>(n_); }

 private:
  api::Node n_;
};

// A pod of a workload's pod set main, bound to a node.
class PodBuilder {
 public:
  PodBuilder(std::string name, std::string workload, std::string node) {
    p_.uid = "uid-" + name;
    p_.ns = "ns";
    p_.name = std::move(name);
    p_.workload = std::move(workload);
    p_.pod_set = "main";
    p_.node = std::move(node);
    p_.bound = true;
    p_.requests = {{"cpu", quantity("1")}};
  }
  PodBuilder& unbound() { return p_.bound = false, *this; }
  PodBuilder& terminating() { return p_.terminating = true, *this; }
  PodBuilder& without_node() { return p_.node.clear(), p_.bound = false, *this; }
  PodBuilder& of_set(std::string pod_set) { return p_.pod_set = std::move(pod_set), *this; }
  PodBuilder& succeeded() { return p_.terminated = p_.succeeded = true, *this; }
  PodBuilder& terminated() { return p_.terminated = true, *this; }
  operator api::kueue::PodPlacement() const { return p_; }  // NOLINT
  Ptr<api::kueue::PodPlacement> ptr() const { return std::make_shared<const api::kueue::PodPlacement>(p_); }

 private:
  api::kueue::PodPlacement p_;
};

inline api::kueue::Topology topology(std::string name) {
  api::kueue::Topology t;
  t.meta.name = std::move(name);
  t.meta.resource_version = "1";
  t.meta.finalizers = {std::string(api::kueue::kFinalizer)};
  t.levels = {"rack", "kubernetes.io/hostname"};
  return t;
}

// "True QuotaReserved: Quota reserved in ClusterQueue cq"; "" when there is no such condition.
inline std::string condition(const api::kueue::WorkloadStatus& status, std::string_view type) {
  const auto* c = api::find_condition(status.conditions, type);
  if (c == nullptr) return "";
  return std::string(c->status ? "True " : "False ") + c->reason + ": " + c->message;
}

}  // namespace berth::engine::test
