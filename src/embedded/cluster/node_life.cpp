#include "embedded/cluster/node_life.h"

#include <string>
#include <utility>

#include "api/core/pod_phase.h"
#include "api/object_condition.h"
#include "api/resources.h"
#include "embedded/cluster/nodes.h"

namespace berth::cluster {
NodeLife::NodeLife(api::RestClient& client, Executor& executor, const kube::Informer& nodes, const kube::Informer& pods,
                   const PodsByNode& index)
    : executor_(executor), nodes_(nodes), pods_(pods), index_(index), writer_(client, executor) {}

void NodeLife::node_changed(const JsonPtr&, const JsonPtr& now) {
  if (now) look_at(*now);
}

void NodeLife::look_at(const Json& node) {
  const std::string now = format_time(executor_.now());
  if (auto status = corrected_status(node, resources_, now))
    return patch_node(node, JsonObject{{"status", std::move(*status)}},
                      "status");  // taints follow when the watch shows the change
  if (auto taints = corrected_taints(node, now)) {
    // Sends the resourceVersion that was seen: a newer version will arrive and is handled then.
    patch_node(
        node,
        JsonObject{{"metadata", JsonObject{{"resourceVersion", string_at(node, {"metadata", "resourceVersion"})}}},
                   {"spec", JsonObject{{"taints", std::move(*taints)}}}},
        "");
  }
  if (node_ready(node)) return;
  for (const auto& key : index_.on(string_at(node, {"metadata", "name"}))) {
    if (const JsonPtr pod = pods_.get(key)) mark_not_ready(*pod);
  }
}

void NodeLife::pod_changed(const JsonPtr&, const JsonPtr& now) {
  if (!now) return;
  const JsonPtr node = nodes_.get(string_at(*now, {"spec", "nodeName"}));
  if (node && !node_ready(*node)) mark_not_ready(*now);
}

void NodeLife::mark_not_ready(const Json& pod) {
  if (api::pod_ended(pod) || !api::object_condition_is_true(pod, "Ready")) return;
  const std::string now = format_time(executor_.now());
  Json status = JsonObject{{"conditions", JsonArray{pod_condition("Ready", false, now, kNodeNotReady)}}};
  writer_.send(patch_pod_status(pod, std::move(status)), [this, key = pod_key(pod)] {
    if (const JsonPtr again = pods_.get(key)) pod_changed(nullptr, again);
  });
}

void NodeLife::patch_node(const Json& node, Json body, std::string_view subresource) {
  api::RestRequest request;
  request.verb = api::Verb::kPatch;
  request.patch_type = subresource.empty() ? api::PatchType::kMerge : api::PatchType::kStrategicMerge;
  request.resource = api::kNodes;
  request.name = string_at(node, {"metadata", "name"});
  request.subresource = subresource;
  request.body = std::move(body);
  const std::string name = request.name;
  writer_.send(std::move(request), [this, name] {
    if (const JsonPtr again = nodes_.get(name)) look_at(*again);
  });
}

}  // namespace berth::cluster
