// Pretend machines: Node objects from a shape, with the labels that topologies are built on.
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

// "2x4x8" is blocks x racks x nodes, "4x8" racks x nodes of one block, "8" nodes of one rack. Each from 1,
// together at most 100,000.
Result<NodeShape> parse_node_shape(std::string_view text);
// "cpu=96,memory=256Gi,nvidia.com/gpu=8". Resources that are not named: cpu 8, memory 32Gi, pods 110.
Result<api::ResourceList> parse_node_resources(std::string_view text);

// In order of block, rack and node: b1-r1-n1, b1-r1-n2, ... Labelled cloud.provider.com/topology-block,
// .../topology-rack and kubernetes.io/hostname.
std::vector<Json> make_nodes(const NodeShape& shape, const api::ResourceList& resources);

// The status of a node that is up: Ready, with these resources unless it says its own.
Json ready_status(const Json& node, const api::ResourceList& resources, std::string_view now);
bool node_ready(const Json& node);

// The taints the node shall have by its condition: node.kubernetes.io/not-ready while it is not Ready, and
// not any more once it is. Nothing when they are right.
// https://kubernetes.io/docs/reference/labels-annotations-taints/#node-kubernetes-io-not-ready
std::optional<JsonArray> corrected_taints(const Json& node);

}  // namespace berth::cluster
