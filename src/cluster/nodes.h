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
// .../topology-rack, kubernetes.io/hostname and, as Kueue's examples have it, cloud.provider.com/node-group:
// tas-group.
std::vector<Json> make_nodes(const NodeShape& shape, const api::ResourceList& resources);
Json make_node(int block, int rack, int number, const api::ResourceList& resources);

// On a node: it fails, as NotReady or, with the value Unknown, without a word; it comes back when the
// annotation is gone.
inline constexpr std::string_view kFailAnnotation = "berth.dev/fail";

bool node_ready(const Json& node);
// The status that a node's kubelet writes now, as a strategic merge patch: a new node becomes Ready and gets
// `resources` unless it says its own; one with kFailAnnotation fails, and one that had it becomes Ready
// again. Nothing when there is nothing to say.
std::optional<Json> corrected_status(const Json& node, const api::ResourceList& resources,
                                     std::string_view now);

// The taints the node shall have by its state: node.kubernetes.io/not-ready while Ready is False,
// .../unreachable while it is Unknown, .../unschedulable while it is cordoned, and not any more after that.
// Nothing when they are right.
// https://kubernetes.io/docs/reference/labels-annotations-taints/#node-kubernetes-io-not-ready
std::optional<JsonArray> corrected_taints(const Json& node, std::string_view now);

}  // namespace berth::cluster
