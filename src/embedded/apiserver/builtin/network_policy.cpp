// Network policies: defaulted, validated and stored. The simulated cluster has no network that enforces them.
// https://kubernetes.io/docs/concepts/services-networking/network-policies/
#include "api/printing/table.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/kinds.h"

namespace berth::apiserver {
namespace {

Result<void> finish_decoding_network_policy(Json& object) {
  Json& spec = ensure_path(object, {"spec"});
  if (!spec.is_object() || !array_at(spec, {"policyTypes"}).empty()) return {};
  JsonArray types{"Ingress"};
  if (!array_at(spec, {"egress"}).empty()) types.emplace_back("Egress");
  spec.get_object()["policyTypes"] = std::move(types);
  return {};
}

void validate_peer(const Json& peer, const std::string& path, FieldErrors& errors) {
  const Json* block = find(peer, "ipBlock");
  const bool selects = find(peer, "podSelector") != nullptr || find(peer, "namespaceSelector") != nullptr;
  if (block != nullptr && selects) {
    errors.push_back(api::forbidden_field(path, "may not specify both ipBlock and another peer"));
  } else if (block == nullptr && !selects) {
    errors.push_back(api::required(path, "must specify a peer"));
  }
  if (block != nullptr) check_required(*block, "cidr", path + ".ipBlock", errors);
  for (std::string_view key : {"podSelector", "namespaceSelector"})
    check_label_selector(member_or_null(peer, key), api::field_path(path, key), errors);
}

void validate_port(const Json& port, const std::string& path, FieldErrors& errors) {
  check_enum(port, "protocol", path, {"SCTP", "TCP", "UDP"}, false, errors);
  const Json& number = member_or_null(port, "port");
  if (number.is_int64()) check_port(number.get_int64(), path + ".port", errors);
  if (number.is_string()) check_text(port, "port", path, api::check_dns_label, errors);
  auto end = optional_int_at(port, {"endPort"});
  if (!end) return;
  if (!number.is_int64()) {
    errors.push_back(api::required(path + ".port", "must be a number when `endPort` is specified"));
  } else if (*end < number.get_int64()) {
    errors.push_back(api::invalid_value(path + ".endPort", *end, "must be greater than or equal to `port`"));
  }
}

void validate_rules(const Json& spec, std::string_view direction, std::string_view peers, FieldErrors& errors) {
  const JsonArray& rules = array_at(spec, {direction});
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string path = api::index_path(api::field_path("spec", direction), i);
    const JsonArray &ports = array_at(rules[i], {"ports"}), &others = array_at(rules[i], {peers});
    for (std::size_t k = 0; k < ports.size(); ++k) validate_port(ports[k], api::index_path(path + ".ports", k), errors);
    for (std::size_t k = 0; k < others.size(); ++k)
      validate_peer(others[k], api::index_path(api::field_path(path, peers), k), errors);
  }
}

FieldErrors validate_network_policy(const Json& object, const Lookup&) {
  FieldErrors errors;
  const Json& spec = member_or_null(object, "spec");
  check_label_selector(member_or_null(spec, "podSelector"), "spec.podSelector", errors);
  validate_rules(spec, "ingress", "from", errors);
  validate_rules(spec, "egress", "to", errors);
  const JsonArray& types = array_at(spec, {"policyTypes"});
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == Json("Ingress") || types[i] == Json("Egress")) continue;
    errors.push_back(api::not_supported(api::index_path("spec.policyTypes", i), types[i], {"Egress", "Ingress"}));
  }
  return errors;
}

}  // namespace

ResourceInfo network_policy_resource() {
  ResourceInfo info =
      make_kind({"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", "networkpolicy", {"netpol"}, {}},
                "NetworkPolicy", finish_decoding_network_policy);
  info.columns = {api::text_column("Pod-Selector", "Labels of the pods."),
                  api::text_column("Age", "Time since the creation.")};
  info.strategy.validate = validate_network_policy;
  info.strategy.cells = [](const Json& object, Time now) {
    return JsonArray{Json(api::selector_text(find_path(object, {"spec", "podSelector"}))),
                     Json(api::age_of(object, now))};
  };
  return info;
}

}  // namespace berth::apiserver
