// Discovery documents of the resources that are served now: the unaggregated ones of each group and version, and the
// aggregated ones.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "embedded/apiserver/registry.h"

namespace berth::apiserver::discovery {

// Versions of a group, preferred version first: stable before beta before alpha, higher numbers first.
struct GroupVersions {
  std::string group;
  std::vector<std::string> versions;
  bool custom = true;  // all its resources come from CustomResourceDefinitions
};
// Built-in groups first, then custom groups, each sorted by name. The core group ("") is the first.
std::vector<GroupVersions> served_groups(const Registry& registry);

// Order: "v1", "v1beta2", "v1beta1", "v1alpha1", then all other names.
bool version_before(std::string_view a, std::string_view b);

Json api_versions(std::string_view server_address);                               // /api
Json api_group_list(const Registry& registry);                                    // /apis
std::optional<Json> api_group(const Registry& registry, std::string_view group);  // /apis/G
std::optional<Json> api_resource_list(const Registry& registry, std::string_view group, std::string_view version);

// The document of /api (core) or /apis, in `version` ("v2" or "v2beta1") of apidiscovery.k8s.io.
Json aggregated_discovery(const Registry& registry, bool core, std::string_view version);

}  // namespace berth::apiserver::discovery
