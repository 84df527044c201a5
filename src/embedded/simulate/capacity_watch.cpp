#include "embedded/simulate/capacity_watch.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "api/autoscaling/provisioning_request.h"
#include "api/core/node.h"
#include "api/resources.h"
#include "embedded/simulate/rack_picture.h"

namespace berth::simulate {
namespace {

using namespace api::autoscaling;

// Nodes that join within this time are reported together.
constexpr Duration kTogether = std::chrono::seconds(1);

std::vector<Json> copies(const std::vector<JsonPtr>& list) {
  std::vector<Json> objects;
  for (const auto& object : list) objects.push_back(*object);
  return objects;
}

}  // namespace

CapacityWatch::CapacityWatch(api::RestClient& client, Executor& executor)
    : executor_(executor),
      nodes_(client, executor, {"", "v1", "nodes"}),
      topologies_(client, executor, {"kueue.x-k8s.io", "v1beta2", "topologies"}),
      requests_(client, executor, api::kProvisioningRequests) {
  nodes_.on_change([this](const JsonPtr& old, const JsonPtr& now) { node_changed(old, now); });
  requests_.on_change([this](const JsonPtr& old, const JsonPtr& now) { request_changed(old, now); });
}

CapacityWatch::~CapacityWatch() { executor_.cancel(joined_timer_); }

void CapacityWatch::start() {
  topologies_.start();
  nodes_.start();
  requests_.start();
}

void CapacityWatch::report(std::string who, std::string what) {
  if (handler_) handler_({executor_.now(), std::move(who), std::move(what)});
}

std::string CapacityWatch::rack_label() const { return rack_label_of(copies(topologies_.list())); }

std::string CapacityWatch::rack_of(std::string_view hostname) const {
  const auto it = racks_.find(std::string(hostname));
  return it == racks_.end() ? "" : it->second;
}

void CapacityWatch::node_changed(const JsonPtr& old, const JsonPtr& now) {
  const api::Node node = api::decode_node(now ? *now : *old);
  const auto label = node.labels.find(rack_label());
  const std::string rack = label == node.labels.end() ? "" : label->second;
  const auto host = node.labels.find("kubernetes.io/hostname");
  if (now && host != node.labels.end()) racks_[host->second] = rack;
  if (!now) return report(node.name, "is deleted");
  if (!old) {
    if (!nodes_.synced()) return;
    ++joined_[rack];
    if (joined_timer_ == 0) joined_timer_ = executor_.after(kTogether, [this] { report_joined(); });
    return;
  }
  const api::Node before = api::decode_node(*old);
  if (before.ready.value_or(false) && !node.ready.value_or(false)) report(node.name, "is not Ready any more");
  if (before.ready && !*before.ready && node.ready.value_or(false)) report(node.name, "is Ready again");
  if (before.unschedulable != node.unschedulable)
    report(node.name, node.unschedulable ? "is cordoned" : "takes pods again");
}

void CapacityWatch::report_joined() {
  joined_timer_ = 0;
  for (const auto& [rack, count] : std::exchange(joined_, {}))
    report(rack.empty() ? "nodes" : rack, fmt::format("has {} new node{}", count, count == 1 ? "" : "s"));
}

void CapacityWatch::request_changed(const JsonPtr& old, const JsonPtr& now) {
  const ProvisioningRequest request = decode_provisioning_request(now ? *now : *old);
  const std::string who = request.meta.ns + "/" + request.meta.name;
  if (!now) return;
  const auto became = [&](std::string_view type) {
    return api::is_true(request.conditions, type) &&
           !(old && api::is_true(decode_provisioning_request(*old).conditions, type));
  };
  if (!old) {
    std::int64_t pods = 0;
    for (const auto& pod_set : request.pod_sets) pods += pod_set.count;
    report(who, fmt::format("asks {} for room for {} pods", request.class_name, pods));
  }
  const std::pair<std::string_view, std::string_view> words[] = {{kProvisioned, "has its room"},
                                                                 {kFailed, "gets no room"},
                                                                 {kBookingExpired, "has its room no longer kept"},
                                                                 {kCapacityRevoked, "loses its room"}};
  for (const auto& [type, text] : words) {
    if (became(type)) report(who, fmt::format("{}: {}", text, api::find_condition(request.conditions, type)->message));
  }
}

}  // namespace berth::simulate
