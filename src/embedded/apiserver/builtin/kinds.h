// One function per built-in kind, and their shared helpers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "embedded/apiserver/resource.h"

namespace berth::apiserver {

struct KindNames {
  std::string group, version, resource, kind, singular;
  std::vector<std::string> short_names, categories;
};

// A resource with the schema of the notation's `type`, its Strategy::decode and its zero object.
ResourceInfo make_kind(KindNames names, std::string_view type);
// The same with `finish_decoding`, which runs after the constant defaults on every decoding.
ResourceInfo make_kind(KindNames names, std::string_view type, std::function<Result<void>(Json&)> finish_decoding);
// Returns a Strategy::field for a fixed list of field labels. The label is itself the path ("spec.nodeName"); the
// value is the text, number or boolean there, "" when absent.
std::function<std::optional<std::string>(const Json&, std::string_view)> field_paths(std::vector<std::string> labels);

// Serves .status as a subresource: create uses the status of the zero object; an update changes either only the
// status or everything except the status.
void separate_status(ResourceInfo& info);
// Serves the subresource scale of spec.replicas, status.replicas and spec.selector.
void serve_scale(ResourceInfo& info);

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
ResourceInfo deployment_resource();
ResourceInfo replica_set_resource();
ResourceInfo stateful_set_resource();
ResourceInfo controller_revision_resource();

// Kinds that are only validated and stored, so that application manifests can be applied; no controller acts on them.
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
ResourceInfo resource_claim_resource();
ResourceInfo resource_claim_template_resource();
ResourceInfo device_class_resource();
ResourceInfo resource_slice_resource();

}  // namespace berth::apiserver
