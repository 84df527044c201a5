// Node objects made from a shape, with the labels that topologies use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/pod_resources.h"
#include "base/json.h"

namespace berth::cluster {

// Blocks x racks per block x nodes per rack.
struct NodeShape {
  int blocks = 1, racks = 1, nodes = 1;
  long long total() const { return 1LL * blocks * racks * nodes; }
};

inline constexpr int kMaxNodes = 100'000;

// "2x4x8" is blocks x racks x nodes, "4x8" racks x nodes in one block, "8" nodes in one rack. Each number is at least
// 1; at most 100,000 nodes in total.
Result<NodeShape> parse_node_shape(std::string_view text);
// Parses "cpu=96,memory=256Gi,nvidia.com/gpu=8". Defaults: cpu 8, memory 32Gi, pods 110.
Result<api::ResourceList> parse_node_resources(std::string_view text);

// Ordered by block, rack and node: b1-r1-n1, b1-r1-n2, ... Labels: cloud.provider.com/topology-block,
// .../topology-rack, kubernetes.io/hostname and, as in Kueue's examples, cloud.provider.com/node-group: tas-group.
std::vector<Json> make_nodes(const NodeShape& shape, const api::ResourceList& resources);
Json make_node(int block, int rack, int number, const api::ResourceList& resources);

// Annotation of a node that makes it fail: Ready is Unknown with the value "Unknown", and False with any other value.
// The node is Ready again when the annotation is removed.
inline constexpr std::string_view kFailAnnotation = "berth.dev/fail";

bool node_ready(const Json& node);
// The status that the node's kubelet writes now, as a strategic merge patch. A new node becomes Ready and gets
// `resources` unless it has a capacity; a node with kFailAnnotation fails, and a node that lost it becomes Ready
// again. None when there is nothing to write.
std::optional<Json> corrected_status(const Json& node, const api::ResourceList& resources, std::string_view now);

// The taints for the node's state: node.kubernetes.io/not-ready while Ready is False, .../unreachable while it is
// Unknown, .../unschedulable while the node is cordoned. Taints that do not apply any more are removed. None when the
// taints are right.
// https://kubernetes.io/docs/reference/labels-annotations-taints/#node-kubernetes-io-not-ready
std::optional<JsonArray> corrected_taints(const Json& node, std::string_view now);

}  // namespace berth::cluster
