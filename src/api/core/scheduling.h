// Taints, tolerations and node selection: the parts of a pod's spec that restrict on which nodes it may run.
// https://kubernetes.io/docs/concepts/scheduling-eviction/
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/meta.h"
#include "base/json.h"

namespace berth::api {

struct Taint {
  std::string key, value, effect;  // effect: NoSchedule, PreferNoSchedule, NoExecute
  bool operator==(const Taint&) const = default;
};

struct Toleration {
  std::string key, op, value, effect;  // op: "Exists", "Equal" or "" (= Equal)
  std::optional<std::int64_t> toleration_seconds;
  bool operator==(const Toleration&) const = default;
};

bool tolerates(const Toleration& toleration, const Taint& taint);
bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);
// The first taint with effect NoSchedule or NoExecute that is not tolerated; null: no pod with these tolerations is
// kept away.
const Taint* find_untolerated(const std::vector<Taint>& taints, const std::vector<Toleration>& tolerations);

struct NodeSelectorRequirement {
  std::string key;
  std::string op;  // In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string> values;
  bool operator==(const NodeSelectorRequirement&) const = default;
};
struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> expressions;  // and-ed
  std::vector<NodeSelectorRequirement> fields;       // metadata.name only
  bool operator==(const NodeSelectorTerm&) const = default;
};
bool matches(const NodeSelectorRequirement& requirement, const StringMap& labels);
bool matches(const NodeSelectorTerm& term, const StringMap& labels, std::string_view node_name);

std::vector<Taint> decode_taints(const Json& array);
std::vector<Toleration> decode_tolerations(const Json& array);
Json encode_tolerations(const std::vector<Toleration>& tolerations);

struct PreferredTerm {
  std::int32_t weight = 0;  // 1 to 100
  NodeSelectorTerm term;
  bool operator==(const PreferredTerm&) const = default;
};

// The constraints of a pod on its node.
struct NodeConstraints {
  StringMap node_selector;
  // Of requiredDuringSchedulingIgnoredDuringExecution, or-ed; empty: no constraint.
  std::vector<NodeSelectorTerm> required_terms;
  std::vector<Toleration> tolerations;
  // Of preferredDuringSchedulingIgnoredDuringExecution, where it counts (decode_preferred_terms()); empty: no wish.
  std::vector<PreferredTerm> preferred_terms{};
  bool operator==(const NodeConstraints&) const = default;
};
NodeConstraints decode_node_constraints(const Json& pod_spec);  // without preferred_terms
std::vector<PreferredTerm> decode_preferred_terms(const Json& pod_spec);

}  // namespace berth::api
