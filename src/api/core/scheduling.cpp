#include "api/core/scheduling.h"

#include <algorithm>
#include <charconv>

namespace berth::api {
namespace {

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool contains(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool matches_field(const NodeSelectorRequirement& r, std::string_view node_name) {
  if (r.key != "metadata.name" || r.values.size() != 1) return false;
  return r.op == "In" ? r.values.front() == node_name : r.op == "NotIn" && r.values.front() != node_name;
}

NodeSelectorRequirement decode_requirement(const Json& value) {
  NodeSelectorRequirement r;
  r.key = string_at(value, {"key"});
  r.op = string_at(value, {"operator"});
  for (const Json& one : array_at(value, {"values"}))
    if (one.is_string()) r.values.emplace_back(view(one.get_string()));
  return r;
}

NodeSelectorTerm decode_term(const Json& value) {
  NodeSelectorTerm term;
  for (const Json& one : array_at(value, {"matchExpressions"})) term.expressions.push_back(decode_requirement(one));
  for (const Json& one : array_at(value, {"matchFields"})) term.fields.push_back(decode_requirement(one));
  return term;
}

}  // namespace

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op.empty() || toleration.op == "Equal") return toleration.value == taint.value;
  return toleration.op == "Exists";
}

bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const Toleration& t) { return tolerates(t, taint); });
}

const Taint* find_untolerated(const std::vector<Taint>& taints, const std::vector<Toleration>& tolerations) {
  for (const Taint& taint : taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    if (!tolerates(tolerations, taint)) return &taint;
  }
  return nullptr;
}

bool matches(const NodeSelectorRequirement& r, const StringMap& labels) {
  const auto label = labels.find(r.key);
  const bool present = label != labels.end();
  if (r.op == "In") return present && contains(r.values, label->second);
  if (r.op == "NotIn") return !present || !contains(r.values, label->second);
  if (r.op == "Exists") return present;
  if (r.op == "DoesNotExist") return !present;
  if ((r.op != "Gt" && r.op != "Lt") || !present || r.values.size() != 1) return false;
  const auto actual = integer(label->second);
  const auto bound = integer(r.values.front());
  return actual && bound && (r.op == "Gt" ? *actual > *bound : *actual < *bound);
}

bool matches(const NodeSelectorTerm& term, const StringMap& labels, std::string_view node_name) {
  if (term.expressions.empty() && term.fields.empty()) return false;  // an empty term matches no node
  return std::all_of(term.expressions.begin(), term.expressions.end(),
                     [&](const NodeSelectorRequirement& r) { return matches(r, labels); }) &&
         std::all_of(term.fields.begin(), term.fields.end(),
                     [&](const NodeSelectorRequirement& r) { return matches_field(r, node_name); });
}

std::vector<Taint> decode_taints(const Json& value) {
  std::vector<Taint> taints;
  if (const JsonArray* array = value.if_array())
    for (const Json& one : *array)
      taints.push_back({std::string(string_at(one, {"key"})), std::string(string_at(one, {"value"})),
                        std::string(string_at(one, {"effect"}))});
  return taints;
}

std::vector<Toleration> decode_tolerations(const Json& value) {
  std::vector<Toleration> tolerations;
  if (const JsonArray* array = value.if_array())
    for (const Json& one : *array)
      tolerations.push_back({std::string(string_at(one, {"key"})), std::string(string_at(one, {"operator"})),
                             std::string(string_at(one, {"value"})), std::string(string_at(one, {"effect"})),
                             optional_int_at(one, {"tolerationSeconds"})});
  return tolerations;
}

Json encode_tolerations(const std::vector<Toleration>& tolerations) {
  JsonArray array;
  for (const Toleration& t : tolerations) {
    JsonObject one;
    if (!t.key.empty()) one["key"] = t.key;
    if (!t.op.empty()) one["operator"] = t.op;
    if (!t.value.empty()) one["value"] = t.value;
    if (!t.effect.empty()) one["effect"] = t.effect;
    if (t.toleration_seconds) one["tolerationSeconds"] = *t.toleration_seconds;
    array.push_back(std::move(one));
  }
  return array;
}

NodeConstraints decode_node_constraints(const Json& pod_spec) {
  NodeConstraints constraints;
  if (const Json* selector = find(pod_spec, "nodeSelector")) constraints.node_selector = decode_string_map(*selector);
  for (const Json& term : array_at(pod_spec, {"affinity", "nodeAffinity",
                                              "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"}))
    constraints.required_terms.push_back(decode_term(term));
  if (const Json* tolerations = find(pod_spec, "tolerations"))
    constraints.tolerations = decode_tolerations(*tolerations);
  return constraints;
}

std::vector<PreferredTerm> decode_preferred_terms(const Json& pod_spec) {
  std::vector<PreferredTerm> terms;
  for (const Json& each :
       array_at(pod_spec, {"affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution"})) {
    const auto weight = static_cast<std::int32_t>(std::clamp<std::int64_t>(int_at(each, {"weight"}, 0), 0, 100));
    if (const Json* term = find(each, "preference")) terms.push_back({weight, decode_term(*term)});
  }
  return terms;
}

}  // namespace berth::api
