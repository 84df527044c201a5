#include "embedded/cluster/nodes.h"
#include "api/core/node_labels.h"
#include "api/object_condition.h"

#include <algorithm>
#include <charconv>

namespace berth::cluster {
namespace {

constexpr std::string_view kNotReadyTaint = "node.kubernetes.io/not-ready";
constexpr std::string_view kUnreachableTaint = "node.kubernetes.io/unreachable";
constexpr std::string_view kUnschedulableTaint = "node.kubernetes.io/unschedulable";
constexpr std::string_view kFailReason =
    "FailedByAnnotation";  // reason of a Ready condition that kFailAnnotation caused

// The Ready condition; null when there is none.
const Json& ready_condition(const Json& node) {
  static const Json none;
  const Json* ready = api::object_condition(node, "Ready");
  return ready == nullptr ? none : *ready;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace

Result<NodeShape> parse_node_shape(std::string_view text) {
  const auto wrong = [&] {
    return fail("node shape \"" + std::string(text) +
                "\": expected BLOCKSxRACKSxNODES, RACKSxNODES or NODES, for example 2x4x8");
  };
  const auto too_many = [&] {
    return fail("node shape \"" + std::string(text) + "\": at most " + std::to_string(kMaxNodes) +
                " nodes are possible");
  };
  const auto parts = split(text, 'x');
  if (parts.size() > 3) return wrong();
  int numbers[3] = {1, 1, 1};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    int& number = numbers[3 - parts.size() + i];
    const auto [end, error] = std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), number);
    const bool large = error == std::errc::result_out_of_range;
    if ((error != std::errc{} && !large) || end != parts[i].data() + parts[i].size() || number < 1) return wrong();
    if (large || number > kMaxNodes) return too_many();
  }
  const NodeShape shape{numbers[0], numbers[1], numbers[2]};
  if (shape.total() > kMaxNodes || 1LL * shape.blocks * shape.racks > kMaxNodes) return too_many();
  return shape;
}

Result<api::ResourceList> parse_node_resources(std::string_view text) {
  api::ResourceList resources = {
      {"cpu", Quantity::of(8)}, {"memory", Quantity::parse("32Gi").value()}, {"pods", Quantity::of(110)}};
  if (text.empty()) return resources;
  for (const auto part : split(text, ',')) {
    const auto equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return fail("node resources \"" + std::string(text) +
                  "\": expected NAME=QUANTITY,... for example cpu=96,memory=256Gi,nvidia.com/gpu=8");
    }
    auto quantity = Quantity::parse(part.substr(equals + 1));
    if (!quantity)
      return fail("node resources: " + std::string(part.substr(0, equals)) + ": " + quantity.error().message);
    if (quantity->sign() < 0)
      return fail("node resources: " + std::string(part.substr(0, equals)) + ": must not be negative");
    resources.insert_or_assign(std::string(part.substr(0, equals)), *quantity);
  }
  return resources;
}

Json make_node(int block_number, int rack_number, int number, const api::ResourceList& resources) {
  const std::string block = "b" + std::to_string(block_number);
  const std::string rack = block + "-r" + std::to_string(rack_number);
  const std::string name = rack + "-n" + std::to_string(number);
  Json node = JsonObject{{"apiVersion", "v1"}, {"kind", "Node"}};
  ensure_path(node, {"metadata", "name"}) = name;
  ensure_path(node, {"metadata", "labels"}) = JsonObject{{"cloud.provider.com/topology-block", block},
                                                         {"cloud.provider.com/topology-rack", rack},
                                                         {"cloud.provider.com/node-group", "tas-group"},
                                                         {api::kHostnameLabel, name},
                                                         {"kubernetes.io/os", "linux"},
                                                         {"kubernetes.io/arch", "amd64"}};
  ensure_path(node, {"status", "capacity"}) = api::encode_resource_list(resources);
  ensure_path(node, {"status", "allocatable"}) = api::encode_resource_list(resources);
  return node;
}

std::vector<Json> make_nodes(const NodeShape& shape, const api::ResourceList& resources) {
  std::vector<Json> nodes;
  nodes.reserve(static_cast<std::size_t>(shape.total()));
  for (int b = 1; b <= shape.blocks; ++b) {
    for (int r = 1; r <= shape.racks; ++r) {
      for (int n = 1; n <= shape.nodes; ++n) nodes.push_back(make_node(b, r, n, resources));
    }
  }
  return nodes;
}

bool node_ready(const Json& node) { return string_at(ready_condition(node), {"status"}) == "True"; }

std::optional<Json> corrected_status(const Json& node, const api::ResourceList& resources, std::string_view now) {
  const Json& ready = ready_condition(node);
  const auto status = string_at(ready, {"status"});
  const bool by_us = string_at(ready, {"reason"}) == kFailReason;
  const Json* fail = find_path(node, {"metadata", "annotations", kFailAnnotation});
  std::string_view wanted = "True", reason = "KubeletReady", message = "the pretend kubelet is ready";
  if (fail != nullptr) {
    wanted = string_at(node, {"metadata", "annotations", kFailAnnotation}) == "Unknown" ? "Unknown" : "False";
    if (status == wanted && by_us) return std::nullopt;
    reason = kFailReason;
    message = "the node has the annotation berth.dev/fail; take it away and the node comes back";
  } else if (status == "True" || (!status.empty() && !by_us)) {
    return std::nullopt;
  }
  Json patch = JsonObject();
  if (object_at(node, {"status", "allocatable"}).empty()) {
    const Json* capacity = find_path(node, {"status", "capacity"});
    const Json all = capacity != nullptr && capacity->is_object() ? *capacity : api::encode_resource_list(resources);
    patch.as_object()["capacity"] = all;
    patch.as_object()["allocatable"] = all;
  }
  JsonObject condition{{"type", "Ready"}, {"status", wanted}, {"reason", reason}, {"message", message}};
  if (fail == nullptr) condition["lastHeartbeatTime"] = now;
  if (status != wanted) condition["lastTransitionTime"] = now;
  patch.as_object()["conditions"] = JsonArray{std::move(condition)};
  return patch;
}

std::optional<JsonArray> corrected_taints(const Json& node, std::string_view now) {
  const auto ready = string_at(ready_condition(node), {"status"});
  const std::string_view failed = ready == "True"      ? ""
                                  : ready == "Unknown" ? kUnreachableTaint
                                                       : kNotReadyTaint;  // a new node is not ready
  const auto wanted = [&](std::string_view key, std::string_view effect) {
    if (key == kUnschedulableTaint) return effect == "NoSchedule" && bool_at(node, {"spec", "unschedulable"});
    return key == failed && (effect == "NoSchedule" || !ready.empty());
  };
  JsonArray result;
  bool wrong = false;
  const auto& present = array_at(node, {"spec", "taints"});
  for (const auto& taint : present) {
    const auto key = string_at(taint, {"key"}), effect = string_at(taint, {"effect"});
    const bool ours = key == kNotReadyTaint || key == kUnreachableTaint || key == kUnschedulableTaint;
    if (ours && !wanted(key, effect)) {
      wrong = true;
    } else {
      result.push_back(taint);
    }
  }
  for (const auto key : {kNotReadyTaint, kUnreachableTaint, kUnschedulableTaint}) {
    for (const std::string_view effect : {"NoSchedule", "NoExecute"}) {
      const bool there = std::any_of(present.begin(), present.end(), [&](const Json& taint) {
        return string_at(taint, {"key"}) == key && string_at(taint, {"effect"}) == effect;
      });
      if (there || !wanted(key, effect)) continue;
      wrong = true;
      JsonObject taint{{"key", key}, {"effect", effect}};
      if (effect == "NoExecute") taint["timeAdded"] = now;
      result.push_back(std::move(taint));
    }
  }
  if (!wrong) return std::nullopt;
  return result;
}

}  // namespace berth::cluster
