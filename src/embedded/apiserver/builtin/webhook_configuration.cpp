// Webhook configurations: defaulted, validated and stored. The embedded server calls no webhooks; Berth's own run in
// process (docs/adr/0008-in-process-admission.md).
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
#include <algorithm>
#include <set>

#include "api/printing/table.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/kinds.h"

namespace berth::apiserver {
namespace {

constexpr std::int64_t kMaxSeconds = 30;

void validate_name(const Json& webhook, const std::string& path, std::set<std::string_view>& seen,
                   FieldErrors& errors) {
  if (!check_required(webhook, "name", path, errors)) return;
  check_text(webhook, "name", path, api::check_dns_subdomain, errors);
  std::string_view name = string_at(webhook, {"name"});
  if (std::count(name.begin(), name.end(), '.') < 2) {
    errors.push_back(api::invalid_value(path + ".name", Json(name),
                                        "should be a domain with at least three segments separated by dots"));
  }
  if (!seen.insert(name).second) errors.push_back(api::duplicate(path + ".name", Json(name)));
}

void validate_client(const Json& client, const std::string& path, FieldErrors& errors) {
  const Json* service = find(client, "service");
  const bool by_url = find(client, "url") != nullptr;
  if (by_url == (service != nullptr)) {
    errors.push_back(api::required(path, "exactly one of url or service is required"));
    return;
  }
  if (by_url && !string_at(client, {"url"}).starts_with("https://")) {
    errors.push_back(
        api::invalid_value(path + ".url", member_or_null(client, "url"), "'https' is the only allowed URL scheme"));
  }
  if (service == nullptr) return;
  const std::string at = path + ".service";
  check_required(*service, "name", at, errors);
  check_required(*service, "namespace", at, errors);
  if (auto port = optional_int_at(*service, {"port"})) check_port(*port, at + ".port", errors);
  std::string_view to = string_at(*service, {"path"});
  if (!to.empty() && !to.starts_with('/')) {
    errors.push_back(api::invalid_value(at + ".path", Json(to), "must start with a '/'"));
  }
}

void validate_rule(const Json& rule, const std::string& path, FieldErrors& errors) {
  for (std::string_view key : {"operations", "apiGroups", "apiVersions", "resources"})
    check_required(rule, key, path, errors);
  const JsonArray& operations = array_at(rule, {"operations"});
  for (std::size_t i = 0; i < operations.size(); ++i) {
    std::string_view operation = operations[i].is_string() ? view(operations[i].get_string()) : "";
    const std::string at = api::index_path(path + ".operations", i);
    constexpr std::string_view kKnown[] = {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"};
    if (std::find(std::begin(kKnown), std::end(kKnown), operation) == std::end(kKnown)) {
      errors.push_back(api::not_supported(at, operations[i], {std::begin(kKnown), std::end(kKnown)}));
    }
  }
  const bool any = std::any_of(operations.begin(), operations.end(), [](const Json& one) { return one == "*"; });
  if (any && operations.size() > 1) {
    errors.push_back(api::invalid_value(path + ".operations", member_or_null(rule, "operations"),
                                        "if '*' is present, must not specify other operations"));
  }
  check_enum(rule, "scope", path, {"*", "Cluster", "Namespaced"}, false, errors);
}

void validate_webhook(const Json& webhook, const std::string& path, FieldErrors& errors) {
  validate_client(member_or_null(webhook, "clientConfig"), path + ".clientConfig", errors);
  const JsonArray& rules = array_at(webhook, {"rules"});
  for (std::size_t i = 0; i < rules.size(); ++i) validate_rule(rules[i], api::index_path(path + ".rules", i), errors);
  check_enum(webhook, "failurePolicy", path, {"Fail", "Ignore"}, false, errors);
  check_enum(webhook, "matchPolicy", path, {"Equivalent", "Exact"}, false, errors);
  check_enum(webhook, "reinvocationPolicy", path, {"IfNeeded", "Never"}, false, errors);
  check_enum(webhook, "sideEffects", path, {"None", "NoneOnDryRun"}, true, errors);
  for (std::string_view key : {"namespaceSelector", "objectSelector"})
    check_label_selector(member_or_null(webhook, key), api::field_path(path, key), errors);
  auto seconds = optional_int_at(webhook, {"timeoutSeconds"});
  if (seconds && (*seconds < 1 || *seconds > kMaxSeconds)) {
    errors.push_back(
        api::invalid_value(path + ".timeoutSeconds", *seconds, "the timeout value must be between 1 and 30 seconds"));
  }
  const JsonArray& versions = array_at(webhook, {"admissionReviewVersions"});
  const bool known = std::any_of(versions.begin(), versions.end(), [](const Json& version) {
    return version.is_string() && (version.get_string() == "v1" || version.get_string() == "v1beta1");
  });
  if (versions.empty()) {
    errors.push_back(api::required(path + ".admissionReviewVersions", "must specify one of v1, v1beta1"));
  } else if (!known) {
    errors.push_back(api::invalid_value(path + ".admissionReviewVersions", Json(versions),
                                        "must include at least one of v1, v1beta1"));
  }
}

FieldErrors validate_webhook_configuration(const Json& object, const Lookup&) {
  FieldErrors errors;
  std::set<std::string_view> seen;
  const JsonArray& webhooks = array_at(object, {"webhooks"});
  for (std::size_t i = 0; i < webhooks.size(); ++i) {
    const std::string path = api::index_path("webhooks", i);
    validate_name(webhooks[i], path, seen, errors);
    validate_webhook(webhooks[i], path, errors);
  }
  return errors;
}

ResourceInfo configuration_kind(std::string kind, std::string singular) {
  ResourceInfo info =
      make_kind({"admissionregistration.k8s.io", "v1", singular + "s", kind, singular, {}, {"api-extensions"}}, kind);
  info.namespaced = false;
  info.columns = {api::text_column("Webhooks", "Number of webhooks."),
                  api::text_column("Age", "Time since the creation.")};
  info.strategy.validate = validate_webhook_configuration;
  info.strategy.cells = [](const Json& object, Time now) {
    return JsonArray{array_at(object, {"webhooks"}).size(), Json(api::age_of(object, now))};
  };
  return info;
}

}  // namespace

ResourceInfo mutating_webhook_configuration_resource() {
  return configuration_kind("MutatingWebhookConfiguration", "mutatingwebhookconfiguration");
}

ResourceInfo validating_webhook_configuration_resource() {
  return configuration_kind("ValidatingWebhookConfiguration", "validatingwebhookconfiguration");
}

}  // namespace berth::apiserver
