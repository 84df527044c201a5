#include "cluster/binder.h"

#include <utility>

#include "api/meta.h"
#include "cluster/nodes.h"
#include "cluster/pod_writes.h"

namespace berth::cluster {
namespace {

const api::GroupVersionResource kPods{"", "v1", "pods"};

bool may_be_bound(const Json& pod) {
  return string_at(pod, {"spec", "nodeName"}).empty() && array_at(pod, {"spec", "schedulingGates"}).empty() &&
         !pod_over(pod) && !pod_terminating(pod);
}

Quantity amount(const api::ResourceList& list, const std::string& resource) {
  const auto it = list.find(resource);
  return it == list.end() ? Quantity() : it->second;
}

}  // namespace

Binder::Binder(api::RestClient& client, Executor& executor, const kube::Informer& pods,
               const kube::Informer& nodes)
    : client_(client), executor_(executor), pods_(pods), nodes_cache_(nodes) {}
Binder::~Binder() { *alive_ = false; }

void Binder::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  const std::string key = pod_key(now ? *now : *old);
  const std::string_view node = now ? string_at(*now, {"spec", "nodeName"}) : std::string_view();
  if (!now || pod_over(*now)) {
    waiting_.erase(key);
    unplace(key);
  } else if (!node.empty()) {
    waiting_.erase(key);
    const auto it = placed_.find(key);
    if (it == placed_.end() || it->second.node != node) {
      unplace(key);
      place(key, std::string(node), api::pod_requests(*find(*now, "spec")));
    }
    return;  // room got less: nobody else can profit
  } else if (may_be_bound(*now)) {
    waiting_.insert(key);
  } else {
    waiting_.erase(key);
  }
  round_soon();
}

void Binder::node_changed(const JsonPtr& old, const JsonPtr& now) {
  const std::string name(string_at(now ? *now : *old, {"metadata", "name"}));
  if (!now) {
    nodes_.erase(name);
    return;
  }
  Node& node = nodes_[name];
  node.labels = api::decode_meta(*now).labels;
  const Json* taints = find_path(*now, {"spec", "taints"});
  node.taints = taints ? api::decode_taints(*taints) : std::vector<api::Taint>();
  node.usable = node_ready(*now) && !bool_at(*now, {"spec", "unschedulable"});
  const Json* allocatable = find_path(*now, {"status", "allocatable"});
  node.allocatable = allocatable ? api::decode_resource_list(*allocatable).value_or(api::ResourceList())
                                 : api::ResourceList();
  node.used.clear();
  node.pods = 0;
  for (const auto& [key, placed] : placed_) {
    if (placed.node != name) continue;
    ++node.pods;
    for (const auto& [resource, quantity] : placed.requests)
      node.used[resource] = amount(node.used, resource) + quantity;
  }
  round_soon();
}

void Binder::place(const std::string& key, const std::string& node, api::ResourceList requests) {
  if (const auto it = nodes_.find(node); it != nodes_.end()) {
    ++it->second.pods;
    for (const auto& [resource, quantity] : requests)
      it->second.used[resource] = amount(it->second.used, resource) + quantity;
  }
  placed_[key] = {node, std::move(requests)};
}

void Binder::unplace(const std::string& key) {
  const auto placed = placed_.find(key);
  if (placed == placed_.end()) return;
  if (const auto it = nodes_.find(placed->second.node); it != nodes_.end()) {
    --it->second.pods;
    for (const auto& [resource, quantity] : placed->second.requests)
      it->second.used[resource] = amount(it->second.used, resource) - quantity;
  }
  placed_.erase(placed);
}

void Binder::round_soon() {
  if (waiting_.empty() || std::exchange(round_posted_, true)) return;
  executor_.post([this, alive = alive_] {
    if (*alive) round();
  });
}

void Binder::round() {
  round_posted_ = false;
  const std::set<std::string> keys = waiting_;
  for (const auto& key : keys) {
    const JsonPtr pod = pods_.get(key);
    if (!pod || !may_be_bound(*pod) || placed_.contains(key)) continue;
    const Json& spec = *find(*pod, "spec");
    api::ResourceList requests = api::pod_requests(spec);
    const std::string* node = choose(requests, api::decode_node_constraints(spec));
    if (node != nullptr) {
      waiting_.erase(key);
      bind(key, pod, *node, std::move(requests));
    } else {
      tell_unschedulable(key, pod);
    }
  }
}

// The fullest node that fits keeps others free for large pods; the name decides between equals.
const std::string* Binder::choose(const api::ResourceList& requests,
                                  const api::NodeConstraints& constraints) const {
  const std::string* best = nullptr;
  std::int64_t best_pods = -1;
  for (const auto& [name, node] : nodes_) {
    if (!node.usable || node.pods <= best_pods) continue;
    if (node.pods >= amount(node.allocatable, "pods").value()) continue;
    bool fits = true;
    for (const auto& [key, value] : constraints.node_selector) {
      const auto label = node.labels.find(key);
      fits = fits && label != node.labels.end() && label->second == value;
    }
    if (!constraints.required_terms.empty()) {
      bool any = false;
      for (const auto& term : constraints.required_terms) any = any || api::matches(term, node.labels, name);
      fits = fits && any;
    }
    for (const auto& taint : node.taints) {
      if (taint.effect != "PreferNoSchedule") fits = fits && api::tolerates(constraints.tolerations, taint);
    }
    for (const auto& [resource, quantity] : requests) {
      fits = fits && amount(node.used, resource) + quantity <= amount(node.allocatable, resource);
    }
    if (!fits) continue;
    best = &name;
    best_pods = node.pods;
  }
  return best;
}

void Binder::bind(const std::string& key, const JsonPtr& pod, const std::string& node,
                  api::ResourceList requests) {
  place(key, node, std::move(requests));
  api::RestRequest request;
  request.verb = api::Verb::kCreate;
  request.resource = kPods;
  request.ns = string_at(*pod, {"metadata", "namespace"});
  request.name = string_at(*pod, {"metadata", "name"});
  request.subresource = "binding";
  request.body = JsonObject{{"apiVersion", "v1"},
                            {"kind", "Binding"},
                            {"metadata", JsonObject{{"name", request.name},
                                                    {"namespace", request.ns},
                                                    {"uid", string_at(*pod, {"metadata", "uid"})}}},
                            {"target", JsonObject{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}};
  client_.call(std::move(request), [this, alive = alive_, key](const api::RestResponse& response) {
    if (!*alive || response.ok()) return;
    unplace(key);
    if (const JsonPtr again = pods_.get(key); again && may_be_bound(*again)) {
      waiting_.insert(key);
      round_soon();
    }
  });
}

void Binder::tell_unschedulable(const std::string& key, const JsonPtr& pod) {
  for (const auto& condition : array_at(*pod, {"status", "conditions"})) {
    if (string_at(condition, {"type"}) == "PodScheduled" &&
        string_at(condition, {"reason"}) == "Unschedulable")
      return;
  }
  api::RestRequest request;
  request.verb = api::Verb::kPatch;
  request.patch_type = api::PatchType::kStrategicMerge;
  request.resource = kPods;
  request.ns = string_at(*pod, {"metadata", "namespace"});
  request.name = string_at(*pod, {"metadata", "name"});
  request.subresource = "status";
  const std::string message =
      "0/" + std::to_string(nodes_.size()) +
      " nodes are available: none has the resources, labels and taints that the pod asks for";
  request.body = JsonObject{
      {"metadata", JsonObject{{"uid", string_at(*pod, {"metadata", "uid"})}}},
      {"status", JsonObject{{"conditions",
                             JsonArray{JsonObject{{"type", "PodScheduled"},
                                                  {"status", "False"},
                                                  {"reason", "Unschedulable"},
                                                  {"message", message},
                                                  {"lastTransitionTime", format_time(executor_.now())}}}}}}};
  client_.call(std::move(request), [](const api::RestResponse&) {});
  static_cast<void>(key);
}

}  // namespace berth::cluster
