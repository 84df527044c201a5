// Discovery documents, made from what is served right now: the plain ones of each group and version, and the
// aggregated ones. https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry.h"
#include "base/json.h"

namespace berth::apiserver::discovery {

// Versions of a group, the preferred one first: stable before beta before alpha, higher numbers first.
struct GroupVersions {
  std::string group;
  std::vector<std::string> versions;
  bool custom = true;  // all of it comes from CustomResourceDefinitions
};
// Built-in groups first, then custom ones, each by name. The core group ("") is the first.
std::vector<GroupVersions> served_groups(const Registry& registry);

// "v1" before "v1beta2" before "v1beta1" before "v1alpha1" before anything else.
bool version_before(std::string_view a, std::string_view b);

Json api_versions(std::string_view server_address);                               // /api
Json api_group_list(const Registry& registry);                                    // /apis
std::optional<Json> api_group(const Registry& registry, std::string_view group);  // /apis/G
std::optional<Json> api_resource_list(const Registry& registry, std::string_view group,
                                      std::string_view version);

// /api (core) or /apis, as apidiscovery.k8s.io of `version` ("v2" or "v2beta1").
Json aggregated_discovery(const Registry& registry, bool core, std::string_view version);

}  // namespace berth::apiserver::discovery
