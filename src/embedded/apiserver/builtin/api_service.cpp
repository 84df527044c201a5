// APIServices: stored and validated. The embedded server forwards no requests to other servers.
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/api-service-v1/
#include <fmt/format.h>

#include "api/object_condition.h"
#include "api/printing/table.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/kinds.h"

namespace berth::apiserver {
namespace {

constexpr std::int64_t kMaxGroupPriority = 20'000, kMaxVersionPriority = 1'000;

void check_range(const Json& spec, std::string_view key, std::int64_t most, FieldErrors& errors) {
  std::int64_t value = int_at(spec, {key});
  if (value < 1 || value > most) {
    errors.push_back(
        api::invalid_value(api::field_path("spec", key), value, fmt::format("must be positive and at most {}", most)));
  }
}

FieldErrors validate_api_service(const Json& object, const Lookup&) {
  FieldErrors errors;
  const Json& spec = member_or_null(object, "spec");
  std::string_view name = string_at(object, {"metadata", "name"});
  const std::string wanted = fmt::format("{}.{}", string_at(spec, {"version"}), string_at(spec, {"group"}));
  if (name != wanted) {
    errors.push_back(api::invalid_value("metadata.name", Json(name),
                                        fmt::format("must be `spec.version+\".\"+spec.group`: \"{}\"", wanted)));
  }
  if (check_required(spec, "version", "spec", errors))
    check_text(spec, "version", "spec", api::check_dns_label, errors);
  check_text(spec, "group", "spec", api::check_dns_subdomain, errors);
  check_range(spec, "groupPriorityMinimum", kMaxGroupPriority, errors);
  check_range(spec, "versionPriority", kMaxVersionPriority, errors);
  const bool has_bundle = !string_at(spec, {"caBundle"}).empty();
  const bool skips = bool_at(spec, {"insecureSkipTLSVerify"});
  if (const Json* service = find(spec, "service")) {
    check_required(*service, "name", "spec.service", errors);
    check_required(*service, "namespace", "spec.service", errors);
    if (auto port = optional_int_at(*service, {"port"})) check_port(*port, "spec.service.port", errors);
    if (skips && has_bundle) {
      errors.push_back(
          api::invalid_value("spec.insecureSkipTLSVerify", true, "may not be true if caBundle is present"));
    }
  } else if (has_bundle || skips) {
    errors.push_back(api::forbidden_field("spec", "caBundle and insecureSkipTLSVerify need a service"));
  }
  return errors;
}

std::string service_cell(const Json& object) {
  const Json* service = find_path(object, {"spec", "service"});
  if (service == nullptr) return "Local";
  return fmt::format("{}/{}", string_at(*service, {"namespace"}), string_at(*service, {"name"}));
}

std::string available_cell(const Json& object) {
  const Json* available = api::object_condition(object, "Available");
  if (available == nullptr) return "Unknown";
  const std::string_view status = string_at(*available, {"status"});
  if (status == "True") return "True";
  return fmt::format("{} ({})", status, string_at(*available, {"reason"}));
}

}  // namespace

ResourceInfo api_service_resource() {
  ResourceInfo info =
      make_kind({"apiregistration.k8s.io", "v1", "apiservices", "APIService", "apiservice", {}, {"api-extensions"}},
                "APIService");
  info.namespaced = false;
  separate_status(info);
  info.strategy.counts_generation = false;
  info.columns = {api::text_column("Service", "Service of the server that answers."),
                  api::text_column("Available", "Whether it answers."),
                  api::text_column("Age", "Time since the creation.")};
  info.strategy.validate = validate_api_service;
  info.strategy.cells = [](const Json& object, Time now) {
    return JsonArray{Json(service_cell(object)), Json(available_cell(object)), Json(api::age_of(object, now))};
  };
  return info;
}

}  // namespace berth::apiserver
