// One function for each built-in kind, and what they share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/resource.h"

namespace berth::apiserver {

struct KindNames {
  std::string group, version, resource, kind, singular;
  std::vector<std::string> short_names, categories;
};

// A resource with the schema of the notation's `type`, its stored form (Strategy::decode) and its zero
// object.
ResourceInfo make_kind(KindNames names, std::string_view type);
// The same with what happens after the constant defaults, on every decoding.
ResourceInfo make_kind(KindNames names, std::string_view type,
                       std::function<Result<void>(Json&)> finish_decoding);
// Strategy::field for a fixed table of labels: the text, number or boolean at the path of the label itself
// ("spec.nodeName"), "" when absent.
std::function<std::optional<std::string>(const Json&, std::string_view)> field_paths(
    std::vector<std::string> labels);

// Serves .status as a subresource: a create has the status of the zero object, an update changes either the
// status or all but the status.
void separate_status(ResourceInfo& info);

ResourceInfo namespace_resource();
ResourceInfo config_map_resource();
ResourceInfo secret_resource();
ResourceInfo service_account_resource();
ResourceInfo limit_range_resource();
ResourceInfo node_resource();
ResourceInfo pod_resource();
ResourceInfo pod_template_resource();
ResourceInfo job_resource();
ResourceInfo core_event_resource();
ResourceInfo events_event_resource();
ResourceInfo lease_resource();
ResourceInfo priority_class_resource();
ResourceInfo runtime_class_resource();

// Kinds that manifests of applications bring along: checked and stored, without a controller behind them.
ResourceInfo deployment_resource();
ResourceInfo service_resource();
ResourceInfo role_resource();
ResourceInfo cluster_role_resource();
ResourceInfo role_binding_resource();
ResourceInfo cluster_role_binding_resource();
ResourceInfo mutating_webhook_configuration_resource();
ResourceInfo validating_webhook_configuration_resource();
ResourceInfo api_service_resource();
ResourceInfo pod_disruption_budget_resource();
ResourceInfo flow_schema_resource();
ResourceInfo priority_level_resource();
ResourceInfo network_policy_resource();

}  // namespace berth::apiserver
