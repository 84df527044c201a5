// Claims, their templates and classes.
#include "embedded/apiserver/builtin/device_validation.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/core/pod_resources.h"
#include "api/resources.h"
#include "api/status.h"
#include "cel/device_selector.h"

namespace berth::apiserver {
namespace {

using api::field_path;
using api::index_path;
using api::key_path;

constexpr std::size_t kMostItems = 32, kMostAlternatives = 8, kMostTolerations = 16, kMostReservations = 256;
constexpr std::size_t kLongestDriver = 63, kLongestParameters = 10 * 1024;
constexpr std::string_view kAdminLabel = "resource.kubernetes.io/admin-access";

void check_size(const JsonArray& items, std::size_t most, const std::string& path, FieldErrors& errors) {
  if (items.size() > most) errors.push_back(api::too_many(path, items.size(), most));
}

void check_selectors(const Json& owner, const std::string& path, FieldErrors& errors) {
  const JsonArray& selectors = array_at(owner, {"selectors"});
  check_size(selectors, kMostItems, path + ".selectors", errors);
  for (std::size_t i = 0; i < selectors.size(); ++i) {
    const std::string at = index_path(path + ".selectors", i) + ".cel";
    const std::string_view expression = string_at(selectors[i], {"cel", "expression"});
    if (find(selectors[i], "cel") == nullptr) {
      errors.push_back(api::required(at, ""));
    } else if (expression.empty()) {
      errors.push_back(api::required(at + ".expression", ""));
    } else if (const auto program = cel::compile_device_selector(expression); !program) {
      errors.push_back(api::invalid_value(at + ".expression", Json(expression), program.error().message));
    }
  }
}

void check_tolerations(const Json& owner, const std::string& path, FieldErrors& errors) {
  const JsonArray& tolerations = array_at(owner, {"tolerations"});
  check_size(tolerations, kMostTolerations, path + ".tolerations", errors);
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    const std::string at = index_path(path + ".tolerations", i);
    check_enum(tolerations[i], "operator", at, {"Equal", "Exists"}, true, errors);
    check_enum(tolerations[i], "effect", at, {"NoExecute", "NoSchedule"}, false, errors);
    const bool exists = string_at(tolerations[i], {"operator"}) == "Exists";
    const std::string_view value = string_at(tolerations[i], {"value"});
    if (exists && !value.empty())
      errors.push_back(api::invalid_value(at + ".value", Json(value), "must be empty for operator `Exists`"));
    if (!exists && string_at(tolerations[i], {"key"}).empty())
      errors.push_back(api::required(at + ".key", "must be set for operator `Equal`"));
  }
}

void check_class_request(const Json& request, const std::string& path, FieldErrors& errors) {
  if (check_required(request, "deviceClassName", path, errors))
    check_text(request, "deviceClassName", path, api::check_dns_subdomain, errors);
  check_selectors(request, path, errors);
  check_tolerations(request, path, errors);
  check_enum(request, "allocationMode", path, {"All", "ExactCount"}, true, errors);
  const std::int64_t count = int_at(request, {"count"});
  const std::string mode(string_at(request, {"allocationMode"}));
  if (mode == "ExactCount" && count <= 0)
    errors.push_back(api::invalid_value(path + ".count", count, "must be greater than zero"));
  if (mode == "All" && count != 0)
    errors.push_back(api::invalid_value(path + ".count", count, "must not be specified when allocationMode is 'All'"));
  for (const auto& amount : object_at(request, {"capacity", "requests"})) {
    const auto quantity = api::decode_quantity(amount.value());
    if (quantity && quantity->sign() < 0)
      errors.push_back(api::invalid_value(key_path(path + ".capacity.requests", amount.key()), amount.value(),
                                          "must be greater than or equal to 0"));
  }
}

// Returns the names by which constraints may refer to it.
void check_request(const Json& request, const std::string& path, std::set<std::string>& names, FieldErrors& errors) {
  const std::string name(string_at(request, {"name"}));
  if (check_required(request, "name", path, errors)) check_text(request, "name", path, api::check_dns_label, errors);
  if (!name.empty() && !names.insert(name).second) errors.push_back(api::duplicate(path + ".name", Json(name)));
  const Json* exactly = find(request, "exactly");
  const JsonArray& alternatives = array_at(request, {"firstAvailable"});
  if (exactly == nullptr && alternatives.empty())
    errors.push_back(api::required(path, "exactly one of `exactly` or `firstAvailable` is required"));
  if (exactly != nullptr && !alternatives.empty())
    errors.push_back(
        api::invalid_value(path, Json(), "exactly one of `exactly` or `firstAvailable` is required, but both are set"));
  if (exactly != nullptr) check_class_request(*exactly, path + ".exactly", errors);
  check_size(alternatives, kMostAlternatives, path + ".firstAvailable", errors);
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    const std::string at = index_path(path + ".firstAvailable", i);
    const std::string below(string_at(alternatives[i], {"name"}));
    if (check_required(alternatives[i], "name", at, errors))
      check_text(alternatives[i], "name", at, api::check_dns_label, errors);
    std::string full = name;
    full.append("/").append(below);
    if (!below.empty() && !names.insert(full).second) errors.push_back(api::duplicate(at + ".name", Json(below)));
    check_class_request(alternatives[i], at, errors);
  }
}

void check_names(const Json& owner, const std::set<std::string>& known, const std::string& path, FieldErrors& errors) {
  const JsonArray& names = array_at(owner, {"requests"});
  check_size(names, kMostItems, path + ".requests", errors);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].is_string() && !known.contains(std::string(view(names[i].get_string()))))
      errors.push_back(api::invalid_value(index_path(path + ".requests", i), names[i],
                                          "must be the name of a request in the claim or the name of a request and a "
                                          "subrequest separated by '/'"));
  }
}

void check_opaque(const Json& owner, const std::string& path, FieldErrors& errors) {
  const Json* opaque = find(owner, "opaque");
  if (opaque == nullptr) {
    errors.push_back(api::required(path + ".opaque", ""));
    return;
  }
  const std::string at = path + ".opaque";
  if (check_required(*opaque, "driver", at, errors))
    check_text(*opaque, "driver", at, api::check_dns_subdomain, errors);
  const std::string_view driver = string_at(*opaque, {"driver"});
  if (driver.size() > kLongestDriver)
    errors.push_back(api::invalid_value(at + ".driver", Json(driver), "may not be more than 63 bytes"));
  const Json& parameters = member_or_null(*opaque, "parameters");
  if (!parameters.is_object())
    errors.push_back(api::invalid_value(at + ".parameters", parameters, "must be a valid JSON object"));
  else if (to_string(parameters).size() > kLongestParameters)
    errors.push_back(api::invalid_value(at + ".parameters", Json(), "may not be more than 10240 bytes"));
}

void check_constraints(const Json& devices, const std::set<std::string>& names, const std::string& path,
                       FieldErrors& errors) {
  const JsonArray& constraints = array_at(devices, {"constraints"});
  check_size(constraints, kMostItems, path + ".constraints", errors);
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const std::string at = index_path(path + ".constraints", i);
    check_names(constraints[i], names, at, errors);
    const std::string_view match = string_at(constraints[i], {"matchAttribute"});
    const std::string_view distinct = string_at(constraints[i], {"distinctAttribute"});
    if (match.empty() == distinct.empty())
      errors.push_back(api::required(at, "exactly one of `matchAttribute` or `distinctAttribute` is required"));
    for (const auto& [key, name] : {std::pair{"matchAttribute", match}, std::pair{"distinctAttribute", distinct}}) {
      if (!name.empty() && name.find('/') == std::string_view::npos)
        errors.push_back(api::invalid_value(field_path(at, key), Json(name), "must include a domain"));
    }
  }
}

FieldErrors check_claim_spec(const Json& spec, const std::string& path) {
  FieldErrors errors;
  const Json& devices = member_or_null(spec, "devices");
  const std::string at = path + ".devices";
  const JsonArray& requests = array_at(devices, {"requests"});
  check_size(requests, kMostItems, at + ".requests", errors);
  std::set<std::string> names;
  for (std::size_t i = 0; i < requests.size(); ++i)
    check_request(requests[i], index_path(at + ".requests", i), names, errors);
  check_constraints(devices, names, at, errors);
  const JsonArray& config = array_at(devices, {"config"});
  check_size(config, kMostItems, at + ".config", errors);
  for (std::size_t i = 0; i < config.size(); ++i) {
    check_names(config[i], names, index_path(at + ".config", i), errors);
    check_opaque(config[i], index_path(at + ".config", i), errors);
  }
  return errors;
}

void check_status(const Json& claim, const Json& old, FieldErrors& errors) {
  const Json& now = member_or_null(member_or_null(claim, "status"), "allocation");
  const Json& before = member_or_null(member_or_null(old, "status"), "allocation");
  if (!now.is_null() && !before.is_null() && !json_equal(now, before))
    errors.push_back(api::invalid_value("status.allocation", now, "field is immutable"));
  const JsonArray& reserved = array_at(claim, {"status", "reservedFor"});
  check_size(reserved, kMostReservations, "status.reservedFor", errors);
  if (!reserved.empty() && now.is_null())
    errors.push_back(api::forbidden_field("status.reservedFor", "may not be specified when `allocated` is not set"));
  std::set<std::string_view> known;
  for (const Json& each : array_at(old, {"status", "reservedFor"})) known.insert(string_at(each, {"uid"}));
  for (std::size_t i = 0; i < reserved.size(); ++i) {
    const std::string at = index_path("status.reservedFor", i);
    for (const auto* key : {"resource", "name", "uid"}) check_required(reserved[i], key, at, errors);
    const bool leaving = find_path(claim, {"metadata", "deletionTimestamp"}) != nullptr;
    if (leaving && !known.contains(string_at(reserved[i], {"uid"})))
      errors.push_back(api::forbidden_field("status.reservedFor",
                                            "new entries may not be added while `deletionTimestamp` "
                                            "is set"));
  }
}

bool wants_admin_access(const Json& object) {
  const JsonArray& of_claim = array_at(object, {"spec", "devices", "requests"});
  const JsonArray& of_template = array_at(object, {"spec", "spec", "devices", "requests"});
  const auto wants = [](const Json& request) { return bool_at(request, {"exactly", "adminAccess"}); };
  return std::ranges::any_of(of_claim, wants) || std::ranges::any_of(of_template, wants);
}

}  // namespace

FieldErrors validate_resource_claim(const Json& object, const Lookup&) {
  return check_claim_spec(member_or_null(object, "spec"), "spec");
}

FieldErrors validate_resource_claim_update(const Json& object, const Json& old, std::string_view subresource) {
  FieldErrors errors;
  check_immutable(object, old, "spec", "", errors);
  if (subresource == "status") check_status(object, old, errors);
  return errors;
}

FieldErrors validate_resource_claim_template(const Json& object, const Lookup&) {
  FieldErrors errors = check_claim_spec(member_or_null(member_or_null(object, "spec"), "spec"), "spec.spec");
  const Json& meta = member_or_null(member_or_null(object, "spec"), "metadata");
  check_labels(object_at(meta, {"labels"}), "spec.metadata.labels", errors);
  if (!meta.is_object()) return errors;
  for (const auto& member : meta.get_object()) {
    const std::string_view key = member.key();
    if (key == "labels" || key == "annotations" || (key == "creationTimestamp" && member.value().is_null())) continue;
    errors.push_back(
        api::forbidden_field(field_path("spec.metadata", key), "cannot be set for a ResourceClaim template"));
  }
  return errors;
}

FieldErrors validate_device_class(const Json& object, const Lookup&) {
  FieldErrors errors;
  const Json& spec = member_or_null(object, "spec");
  check_selectors(spec, "spec", errors);
  const JsonArray& config = array_at(spec, {"config"});
  check_size(config, kMostItems, "spec.config", errors);
  for (std::size_t i = 0; i < config.size(); ++i) check_opaque(config[i], index_path("spec.config", i), errors);
  const Json& resource = member_or_null(spec, "extendedResourceName");
  if (!resource.is_string()) return errors;
  const std::string_view name = view(resource.get_string());
  const bool extended = name.find('/') != std::string_view::npos &&
                        name.find("kubernetes.io/") == std::string_view::npos && !name.starts_with("requests.") &&
                        api::check_qualified_name(name).empty();
  if (!extended)
    errors.push_back(
        api::invalid_value("spec.extendedResourceName", resource, "must be a valid extended resource name"));
  return errors;
}

std::optional<api::RestResponse> admit_admin_access(Json& object, const Json* old, const Lookup& lookup) {
  if (old != nullptr || !wants_admin_access(object)) return std::nullopt;
  const std::string ns(string_at(object, {"metadata", "namespace"})), name(string_at(object, {"metadata", "name"}));
  const auto home = lookup.get(api::kNamespaces, "", ns);
  if (home && string_at(*home, {"metadata", "labels", kAdminLabel}) == "true") return std::nullopt;
  return api::forbidden(
      string_at(object, {"kind"}) == "ResourceClaim" ? api::kResourceClaims : api::kResourceClaimTemplates, name,
      "admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the "
      "containing namespace");
}

std::string claim_state(const Json& claim) {
  std::string out;
  const auto add = [&](std::string_view word) { out.append(out.empty() ? "" : ",").append(word); };
  if (find_path(claim, {"metadata", "deletionTimestamp"}) != nullptr) add("deleted");
  const Json* allocation = find_path(claim, {"status", "allocation"});
  if (allocation == nullptr || allocation->is_null()) {
    if (out.empty()) add("pending");
    return out;
  }
  add("allocated");
  if (!array_at(claim, {"status", "reservedFor"}).empty()) add("reserved");
  return out;
}

}  // namespace berth::apiserver
