#include "cluster/nodes.h"

#include <charconv>

namespace berth::cluster {
namespace {

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
  const auto parts = split(text, 'x');
  if (parts.size() > 3) return wrong();
  int numbers[3] = {1, 1, 1};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    int& number = numbers[3 - parts.size() + i];
    const auto [end, error] = std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), number);
    if (error != std::errc{} || end != parts[i].data() + parts[i].size() || number < 1 || number > kMaxNodes)
      return wrong();
  }
  const NodeShape shape{numbers[0], numbers[1], numbers[2]};
  if (shape.total() > kMaxNodes || 1LL * shape.blocks * shape.racks > kMaxNodes) {
    return fail("node shape \"" + std::string(text) + "\": at most " + std::to_string(kMaxNodes) +
                " nodes are possible");
  }
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

std::vector<Json> make_nodes(const NodeShape& shape, const api::ResourceList& resources) {
  std::vector<Json> nodes;
  nodes.reserve(static_cast<std::size_t>(shape.total()));
  for (int b = 1; b <= shape.blocks; ++b) {
    for (int r = 1; r <= shape.racks; ++r) {
      for (int n = 1; n <= shape.nodes; ++n) {
        const std::string block = "b" + std::to_string(b);
        const std::string rack = block + "-r" + std::to_string(r);
        const std::string name = rack + "-n" + std::to_string(n);
        Json node = JsonObject{{"apiVersion", "v1"}, {"kind", "Node"}};
        ensure_path(node, {"metadata", "name"}) = name;
        ensure_path(node, {"metadata", "labels"}) = JsonObject{{"cloud.provider.com/topology-block", block},
                                                               {"cloud.provider.com/topology-rack", rack},
                                                               {"kubernetes.io/hostname", name},
                                                               {"kubernetes.io/os", "linux"},
                                                               {"kubernetes.io/arch", "amd64"}};
        ensure_path(node, {"status", "capacity"}) = api::encode_resource_list(resources);
        ensure_path(node, {"status", "allocatable"}) = api::encode_resource_list(resources);
        nodes.push_back(std::move(node));
      }
    }
  }
  return nodes;
}

Json ready_status(const Json& node, const api::ResourceList& resources, std::string_view now) {
  Json status = JsonObject();
  if (object_at(node, {"status", "allocatable"}).empty()) {
    const Json* capacity = find_path(node, {"status", "capacity"});
    const Json all =
        capacity != nullptr && capacity->is_object() ? *capacity : api::encode_resource_list(resources);
    status.as_object()["capacity"] = all;
    status.as_object()["allocatable"] = all;
  }
  status.as_object()["conditions"] = JsonArray{JsonObject{{"type", "Ready"},
                                                          {"status", "True"},
                                                          {"reason", "KubeletReady"},
                                                          {"message", "the pretend kubelet is ready"},
                                                          {"lastHeartbeatTime", now},
                                                          {"lastTransitionTime", now}}};
  return status;
}

bool node_ready(const Json& node) {
  for (const auto& condition : array_at(node, {"status", "conditions"})) {
    if (string_at(condition, {"type"}) == "Ready") return string_at(condition, {"status"}) == "True";
  }
  return false;
}

std::optional<JsonArray> corrected_taints(const Json& node) {
  constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
  const auto& present = array_at(node, {"spec", "taints"});
  JsonArray wanted;
  bool tainted = false;
  for (const auto& taint : present) {
    const bool ours = string_at(taint, {"key"}) == kNotReady && string_at(taint, {"effect"}) == "NoSchedule";
    tainted = tainted || ours;
    if (!ours) wanted.push_back(taint);
  }
  const bool ready = node_ready(node);
  if (tainted != ready) return std::nullopt;
  if (!ready) wanted.push_back(JsonObject{{"key", kNotReady}, {"effect", "NoSchedule"}});
  return wanted;
}

}  // namespace berth::cluster
