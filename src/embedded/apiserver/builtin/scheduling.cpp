// PriorityClass, RuntimeClass and Lease.
#include <fmt/format.h>

#include "api/printing/table.h"
#include "api/resources.h"
#include "api/status.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/kinds.h"

namespace berth::apiserver {
namespace {

// Higher values, and names with this prefix, are reserved for system classes.
constexpr std::int64_t kHighestUserPriority = 1'000'000'000;
constexpr std::string_view kSystemPrefix = "system-";

bool is_system_class(std::string_view name, std::int64_t value) {
  return (name == "system-node-critical" && value == 2'000'001'000) ||
         (name == "system-cluster-critical" && value == 2'000'000'000);
}

FieldErrors validate_priority_class(const Json& object, const Lookup&) {
  FieldErrors errors;
  std::string_view name = string_at(object, {"metadata", "name"});
  std::int64_t value = int_at(object, {"value"});
  if (name.starts_with(kSystemPrefix)) {
    if (!is_system_class(name, value)) {
      errors.push_back(api::forbidden_field(
          "metadata.name", "priority class names with 'system-' prefix are reserved for system use only. error: " +
                               std::string(name) + " is not a known system priority class"));
    }
  } else if (value > kHighestUserPriority) {
    errors.push_back(api::forbidden_field(
        "value", fmt::format("maximum allowed value of a user defined priority is {}", kHighestUserPriority)));
  }
  check_enum(object, "preemptionPolicy", "", {"Never", "PreemptLowerPriority"}, false, errors);
  return errors;
}

FieldErrors validate_priority_class_update(const Json& object, const Json& old, std::string_view) {
  FieldErrors errors;
  if (int_at(object, {"value"}) != int_at(old, {"value"})) {
    errors.push_back(api::forbidden_field("value", "may not be changed in an update."));
  }
  check_immutable(object, old, "preemptionPolicy", "", errors);
  return errors;
}

// At most one PriorityClass may be the global default.
std::optional<api::RestResponse> admit_priority_class(Json& object, const Json*, const Lookup& lookup) {
  if (!bool_at(object, {"globalDefault"})) return std::nullopt;
  std::string_view name = string_at(object, {"metadata", "name"});
  for (const auto& other : lookup.list(api::kPriorityClasses, "")) {
    std::string_view other_name = string_at(*other, {"metadata", "name"});
    if (!bool_at(*other, {"globalDefault"}) || other_name == name) continue;
    return api::forbidden(
        api::kPriorityClasses, name,
        fmt::format("PriorityClass {} is already marked as default. Only one default can exist", other_name));
  }
  return std::nullopt;
}

FieldErrors validate_runtime_class(const Json& object, const Lookup&) {
  FieldErrors errors;
  if (check_required(object, "handler", "", errors)) check_text(object, "handler", "", api::check_dns_label, errors);
  for (const auto& member : object_at(object, {"overhead", "podFixed"})) {
    if (view(member.value().as_string()).starts_with('-')) {
      errors.push_back(api::invalid_value(api::key_path("overhead.podFixed", member.key()), member.value(),
                                          "must be greater than or equal to 0"));
    }
  }
  check_labels(object_at(object, {"scheduling", "nodeSelector"}), "scheduling.nodeSelector", errors);
  return errors;
}

FieldErrors validate_lease(const Json& object, const Lookup&) {
  FieldErrors errors;
  const Json& spec = member_or_null(object, "spec");
  const Json* holder = find(spec, "holderIdentity");
  const Json* strategy = find(spec, "strategy");
  if (holder != nullptr && holder->is_string() && holder->get_string().empty() && strategy == nullptr) {
    errors.push_back(api::invalid_value("spec.holderIdentity", *holder, "must not be empty"));
  }
  check_positive(spec, "leaseDurationSeconds", "spec", errors);
  check_non_negative(spec, "leaseTransitions", "spec", errors);
  if (find(spec, "preferredHolder") != nullptr && strategy == nullptr) {
    errors.push_back(api::forbidden_field("spec.preferredHolder", "may not be specified without a strategy"));
  }
  return errors;
}

}  // namespace

ResourceInfo priority_class_resource() {
  ResourceInfo info = make_kind({api::kPriorityClasses.group,
                                 api::kPriorityClasses.version,
                                 api::kPriorityClasses.resource,
                                 "PriorityClass",
                                 "priorityclass",
                                 {"pc"},
                                 {}},
                                "PriorityClass");
  info.namespaced = false;
  info.columns = {api::text_column("Value", "The priority."),
                  api::text_column("Global-Default", "Whether pods without a class get this one."),
                  api::text_column("Age", "Time since the creation."),
                  api::text_column("PreemptionPolicy", "Whether pods of the class may preempt others.")};
  info.strategy.validate = validate_priority_class;
  info.strategy.validate_update = validate_priority_class_update;
  info.strategy.admit = admit_priority_class;
  info.strategy.cells = [](const Json& object, Time now) {
    return JsonArray{int_at(object, {"value"}), bool_at(object, {"globalDefault"}), Json(api::age_of(object, now)),
                     Json(string_at(object, {"preemptionPolicy"}))};
  };
  return info;
}

ResourceInfo runtime_class_resource() {
  ResourceInfo info =
      make_kind({"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", "runtimeclass", {}, {}}, "RuntimeClass");
  info.namespaced = false;
  info.strategy.counts_generation = false;
  info.columns = {api::text_column("Handler", "Name of the runtime on the nodes."),
                  api::text_column("Age", "Time since the creation.")};
  info.strategy.validate = validate_runtime_class;
  info.strategy.validate_update = [](const Json& object, const Json& old, std::string_view) {
    FieldErrors errors;
    check_immutable(object, old, "handler", "", errors);
    return errors;
  };
  info.strategy.cells = [](const Json& object, Time now) {
    return JsonArray{Json(string_at(object, {"handler"})), Json(api::age_of(object, now))};
  };
  return info;
}

ResourceInfo lease_resource() {
  ResourceInfo info = make_kind({"coordination.k8s.io", "v1", "leases", "Lease", "lease", {}, {}}, "Lease");
  info.strategy.counts_generation = false;
  info.columns = {api::text_column("Holder", "Who holds the lease."),
                  api::text_column("Age", "Time since the creation.")};
  info.strategy.validate = validate_lease;
  info.strategy.cells = [](const Json& object, Time now) {
    return JsonArray{Json(string_at(object, {"spec", "holderIdentity"})), Json(api::age_of(object, now))};
  };
  return info;
}

}  // namespace berth::apiserver
