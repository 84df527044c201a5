#include "embedded/apiserver/builtin/builtin.h"

#include <utility>

#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/decode.h"
#include "embedded/apiserver/builtin/kinds.h"
#include "embedded/apiserver/builtin/schema_loader.h"

namespace berth::apiserver {

ResourceInfo make_kind(KindNames names, std::string_view type, std::function<Result<void>(Json&)> finish_decoding) {
  ResourceInfo info;
  info.gvr = {std::move(names.group), std::move(names.version), std::move(names.resource)};
  info.storage_version = info.gvr.version;
  info.list_kind = names.kind + "List";
  info.kind = std::move(names.kind);
  info.singular = std::move(names.singular);
  info.short_names = std::move(names.short_names);
  info.categories = std::move(names.categories);
  info.schema = builtin_kind_schema(type);
  info.zero = zero_object(*info.schema);
  info.strategy.decode = [schema = info.schema, finish = std::move(finish_decoding)](Json& object) -> Result<void> {
    if (auto done = to_stored_form(object, *schema); !done) return done;
    return finish ? finish(object) : Result<void>{};
  };
  return info;
}

ResourceInfo make_kind(KindNames names, std::string_view type) { return make_kind(std::move(names), type, {}); }

std::function<std::optional<std::string>(const Json&, std::string_view)> field_paths(std::vector<std::string> labels) {
  return [labels = std::move(labels)](const Json& object, std::string_view field) -> std::optional<std::string> {
    bool known = false;
    for (const auto& label : labels) known = known || label == field;
    if (!known) return std::nullopt;
    const Json* at = &object;
    while (at != nullptr && !field.empty()) {
      std::size_t dot = field.find('.');
      at = find(*at, field.substr(0, dot));
      field.remove_prefix(dot == std::string_view::npos ? field.size() : dot + 1);
    }
    if (at == nullptr || at->is_null()) return "";
    return at->is_string() ? std::string(view(at->get_string())) : to_string(*at);
  };
}

void separate_status(ResourceInfo& info) {
  info.has_status = true;
  info.strategy.prepare_create = [status = member_or_null(info.zero, "status")](Json& object, const Lookup&) {
    object.as_object()["status"] = status;
  };
  info.strategy.prepare_update = [](Json& object, const Json& old, std::string_view subresource, const Lookup&) {
    std::string_view kept = subresource == "status" ? "spec" : "status";
    object.as_object()[kept] = member_or_null(old, kept);
  };
}

void serve_scale(ResourceInfo& info) {
  info.has_scale = true;
  info.scale_spec_path = ".spec.replicas";
  info.scale_status_path = ".status.replicas";
  info.scale_selector_path = ".spec.selector";
}

std::vector<ResourcePtr> builtin_resources() {
  using Make = ResourceInfo (*)();
  constexpr Make kKinds[] = {
      namespace_resource,
      config_map_resource,
      secret_resource,
      service_account_resource,
      limit_range_resource,
      node_resource,
      pod_resource,
      pod_template_resource,
      job_resource,
      core_event_resource,
      events_event_resource,
      lease_resource,
      priority_class_resource,
      runtime_class_resource,
      deployment_resource,
      replica_set_resource,
      stateful_set_resource,
      controller_revision_resource,
      service_resource,
      role_resource,
      cluster_role_resource,
      role_binding_resource,
      cluster_role_binding_resource,
      mutating_webhook_configuration_resource,
      validating_webhook_configuration_resource,
      api_service_resource,
      pod_disruption_budget_resource,
      flow_schema_resource,
      priority_level_resource,
      network_policy_resource,
      resource_claim_resource,
      resource_claim_template_resource,
      device_class_resource,
      resource_slice_resource,
  };
  std::vector<ResourcePtr> all;
  for (Make make : kKinds) all.push_back(std::make_shared<const ResourceInfo>(make()));
  return all;
}

}  // namespace berth::apiserver
