#include "embedded/cluster/pod_collector.h"

#include "api/core/pod_phase.h"

#include <utility>

namespace berth::cluster {
namespace {

// The collector has nothing left to do for the pod. Finalizers may still keep it.
bool collected(const Json& pod) {
  return api::pod_ended(pod) && pod_terminating(pod) && int_at(pod, {"metadata", "deletionGracePeriodSeconds"}) == 0;
}

}  // namespace

PodCollector::PodCollector(api::RestClient& client, Executor& executor, const kube::Informer& nodes,
                           const kube::Informer& pods, const PodsByNode& index)
    : executor_(executor), nodes_(nodes), pods_(pods), index_(index), writer_(client, executor) {}

PodCollector::~PodCollector() {
  for (const auto& [node, timer] : missing_) executor_.cancel(timer);
}

void PodCollector::node_changed(const JsonPtr& old, const JsonPtr& now) {
  const std::string name(string_at(now ? *now : *old, {"metadata", "name"}));
  if (!now) return wait_for(name);
  const auto it = missing_.find(name);
  if (it == missing_.end()) return;
  executor_.cancel(it->second);
  missing_.erase(it);
}

void PodCollector::pod_changed(const JsonPtr&, const JsonPtr& now) {
  if (!now || collected(*now)) return;
  const auto node = string_at(*now, {"spec", "nodeName"});
  if (!node.empty() && !nodes_.get(node)) wait_for(std::string(node));
}

void PodCollector::wait_for(const std::string& node) {
  if (missing_.contains(node) || index_.on(node).empty()) return;
  missing_[node] = executor_.after(kNodeQuarantine, [this, node] { collect(node); });
}

void PodCollector::collect(const std::string& node) {
  missing_.erase(node);
  if (nodes_.get(node)) return;
  if (!nodes_.synced()) return wait_for(node);  // the cache is not synced: the node may exist
  const std::string now = format_time(executor_.now());
  for (const auto& key : index_.on(node)) {
    const JsonPtr pod = pods_.get(key);
    if (!pod || collected(*pod)) continue;
    const auto again = [this, node] { wait_for(node); };
    if (!api::pod_ended(*pod)) {
      Json conditions =
          JsonArray{pod_condition("DisruptionTarget", true, now, "DeletionByPodGC", "PodGC: node no longer exists"),
                    pod_condition("Ready", false, now, "PodFailed")};
      writer_.send(patch_pod_status(*pod, JsonObject{{"phase", "Failed"}, {"conditions", std::move(conditions)}}),
                   again);
    }
    writer_.send(delete_pod(*pod, 0), again);
  }
}

}  // namespace berth::cluster
