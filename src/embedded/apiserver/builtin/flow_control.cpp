// FlowSchemas and PriorityLevelConfigurations: defaulted, validated and stored. The embedded server has its own
// request limits and does not use them.
// https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
#include <fmt/format.h>

#include "api/printing/table.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/kinds.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kGroup = "flowcontrol.apiserver.k8s.io";
constexpr std::int64_t kMaxPrecedence = 10'000, kMaxQueues = 10'000'000, kPercent = 100;

// `queuing` gets defaults only when requests may be queued.
Result<void> finish_level(Json& object) {
  const std::string_view response = string_at(object, {"spec", "limited", "limitResponse", "type"});
  if (response != "Queue") return {};
  Json& queuing = ensure_path(object, {"spec", "limited", "limitResponse", "queuing"});
  if (!queuing.is_object()) queuing = JsonObject();
  for (auto [key, value] :
       {std::pair<std::string_view, int>{"queues", 64}, {"handSize", 8}, {"queueLengthLimit", 50}}) {
    if (int_at(queuing, {key}) == 0) queuing.get_object()[key] = value;
  }
  return {};
}

Result<void> finish_schema(Json& object) {
  Json& spec = ensure_path(object, {"spec"});
  constexpr int kDefaultPrecedence = 1000;
  if (spec.is_object() && int_at(spec, {"matchingPrecedence"}) == 0)
    spec.get_object()["matchingPrecedence"] = kDefaultPrecedence;
  return {};
}

void validate_subject(const Json& subject, const std::string& path, FieldErrors& errors) {
  check_enum(subject, "kind", path, {"Group", "ServiceAccount", "User"}, true, errors);
  std::string_view kind = string_at(subject, {"kind"});
  for (auto [name, member] : {std::pair<std::string_view, std::string_view>{"User", "user"},
                              {"Group", "group"},
                              {"ServiceAccount", "serviceAccount"}}) {
    const std::string at = api::field_path(path, member);
    const Json* value = find(subject, member);
    if (kind == name && value == nullptr) {
      errors.push_back(api::required(at, fmt::format("{} is required when subject kind is '{}'", member, name)));
    } else if (kind != name && value != nullptr) {
      errors.push_back(
          api::forbidden_field(at, fmt::format("{} is forbidden when subject kind is not '{}'", member, name)));
    }
    if (value == nullptr) continue;
    check_required(*value, "name", at, errors);
    if (kind == "ServiceAccount") check_required(*value, "namespace", at, errors);
  }
}

void validate_rule(const Json& rule, const std::string& path, FieldErrors& errors) {
  const JsonArray& subjects = array_at(rule, {"subjects"});
  if (subjects.empty()) errors.push_back(api::required(path + ".subjects", "subjects must contain at least one value"));
  for (std::size_t i = 0; i < subjects.size(); ++i)
    validate_subject(subjects[i], api::index_path(path + ".subjects", i), errors);
  const JsonArray &resources = array_at(rule, {"resourceRules"}), &paths = array_at(rule, {"nonResourceRules"});
  if (resources.empty() && paths.empty()) {
    errors.push_back(api::required(path, "at least one of resourceRules and nonResourceRules has to be non-empty"));
  }
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const std::string at = api::index_path(path + ".resourceRules", i);
    for (std::string_view key : {"verbs", "apiGroups", "resources"}) check_required(resources[i], key, at, errors);
    if (!bool_at(resources[i], {"clusterScope"}) && array_at(resources[i], {"namespaces"}).empty()) {
      errors.push_back(api::required(at + ".namespaces",
                                     "resource rules that are not cluster scoped must supply at least one namespace"));
    }
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string at = api::index_path(path + ".nonResourceRules", i);
    for (std::string_view key : {"verbs", "nonResourceURLs"}) check_required(paths[i], key, at, errors);
  }
}

FieldErrors validate_schema(const Json& object, const Lookup&) {
  FieldErrors errors;
  const Json& spec = member_or_null(object, "spec");
  check_required(member_or_null(spec, "priorityLevelConfiguration"), "name", "spec.priorityLevelConfiguration", errors);
  std::int64_t precedence = int_at(spec, {"matchingPrecedence"});
  if (precedence < 1 || precedence > kMaxPrecedence) {
    errors.push_back(api::invalid_value("spec.matchingPrecedence", precedence,
                                        fmt::format("must be between 1 and {}", kMaxPrecedence)));
  }
  if (const Json* method = find(spec, "distinguisherMethod"))
    check_enum(*method, "type", "spec.distinguisherMethod", {"ByNamespace", "ByUser"}, true, errors);
  const JsonArray& rules = array_at(spec, {"rules"});
  for (std::size_t i = 0; i < rules.size(); ++i) validate_rule(rules[i], api::index_path("spec.rules", i), errors);
  return errors;
}

void check_percent(const Json& owner, std::string_view key, const std::string& path, FieldErrors& errors) {
  auto value = optional_int_at(owner, {key});
  if (value && (*value < 0 || *value > kPercent)) {
    errors.push_back(api::invalid_value(api::field_path(path, key), *value, "must be between 0 and 100, inclusive"));
  }
}

void validate_limited(const Json& limited, FieldErrors& errors) {
  const std::string path = "spec.limited";
  check_non_negative(limited, "nominalConcurrencyShares", path, errors);
  check_non_negative(limited, "borrowingLimitPercent", path, errors);
  check_percent(limited, "lendablePercent", path, errors);
  const Json& response = member_or_null(limited, "limitResponse");
  check_enum(response, "type", path + ".limitResponse", {"Queue", "Reject"}, true, errors);
  const Json* queuing = find(response, "queuing");
  if (queuing == nullptr) return;
  const std::string at = path + ".limitResponse.queuing";
  if (string_at(response, {"type"}) == "Reject")
    errors.push_back(api::forbidden_field(at, "must be nil if limited.limitResponse.type is not Limited"));
  for (std::string_view key : {"queues", "handSize", "queueLengthLimit"}) check_positive(*queuing, key, at, errors);
  std::int64_t queues = int_at(*queuing, {"queues"}), hand = int_at(*queuing, {"handSize"});
  if (queues > kMaxQueues) {
    errors.push_back(
        api::invalid_value(at + ".queues", queues, fmt::format("must not be greater than {}", kMaxQueues)));
  }
  if (hand > queues) {
    errors.push_back(
        api::invalid_value(at + ".handSize", hand, fmt::format("should not be greater than queues ({})", queues)));
  }
}

FieldErrors validate_level(const Json& object, const Lookup&) {
  FieldErrors errors;
  const Json& spec = member_or_null(object, "spec");
  check_enum(spec, "type", "spec", {"Exempt", "Limited"}, true, errors);
  const bool limited = string_at(spec, {"type"}) == "Limited";
  const Json* bounds = find(spec, "limited");
  if (limited && bounds == nullptr)
    errors.push_back(api::required("spec.limited", "must not be empty when type is Limited"));
  if (!limited && bounds != nullptr)
    errors.push_back(api::forbidden_field("spec.limited", "must be nil if the type is not Limited"));
  if (limited && find(spec, "exempt") != nullptr)
    errors.push_back(api::forbidden_field("spec.exempt", "must be nil if the type is Limited"));
  if (bounds != nullptr) validate_limited(*bounds, errors);
  if (const Json* exempt = find(spec, "exempt")) check_percent(*exempt, "lendablePercent", "spec.exempt", errors);
  return errors;
}

JsonArray schema_cells(const Json& object, Time now) {
  std::string_view method = string_at(object, {"spec", "distinguisherMethod", "type"});
  return {Json(string_at(object, {"spec", "priorityLevelConfiguration", "name"})),
          int_at(object, {"spec", "matchingPrecedence"}), Json(method.empty() ? "<none>" : method),
          Json(api::age_of(object, now))};
}

JsonArray level_cells(const Json& object, Time now) {
  auto number = [&](std::initializer_list<std::string_view> path) {
    auto value = optional_int_at(object, path);
    return value ? Json(std::to_string(*value)) : Json("<none>");
  };
  return {Json(string_at(object, {"spec", "type"})),
          number({"spec", "limited", "nominalConcurrencyShares"}),
          number({"spec", "limited", "limitResponse", "queuing", "queues"}),
          number({"spec", "limited", "limitResponse", "queuing", "handSize"}),
          number({"spec", "limited", "limitResponse", "queuing", "queueLengthLimit"}),
          Json(api::age_of(object, now))};
}

}  // namespace

ResourceInfo flow_schema_resource() {
  ResourceInfo info = make_kind({std::string(kGroup), "v1", "flowschemas", "FlowSchema", "flowschema", {}, {}},
                                "FlowSchema", finish_schema);
  info.namespaced = false;
  separate_status(info);
  info.columns = {api::text_column("PriorityLevel", "The priority level."),
                  api::text_column("MatchingPrecedence", "The lowest of several that match counts."),
                  api::text_column("DistinguisherMethod", "What makes requests different flows."),
                  api::text_column("Age", "Time since the creation.")};
  info.strategy.validate = validate_schema;
  info.strategy.cells = schema_cells;
  return info;
}

ResourceInfo priority_level_resource() {
  ResourceInfo info = make_kind({std::string(kGroup),
                                 "v1",
                                 "prioritylevelconfigurations",
                                 "PriorityLevelConfiguration",
                                 "prioritylevelconfiguration",
                                 {},
                                 {}},
                                "PriorityLevelConfiguration", finish_level);
  info.namespaced = false;
  separate_status(info);
  info.columns = {api::text_column("Type", "Limited or Exempt."),
                  api::text_column("NominalConcurrencyShares", "Its part of all concurrency."),
                  api::text_column("Queues", "Number of queues."),
                  api::text_column("HandSize", "Queues among which a flow is spread."),
                  api::text_column("QueueLengthLimit", "Most requests in a queue."),
                  api::text_column("Age", "Time since the creation.")};
  info.strategy.validate = validate_level;
  info.strategy.cells = level_cells;
  return info;
}

}  // namespace berth::apiserver
