// What clients ask before they ask for pending workloads: discovery and OpenAPI of the group visibility.kueue.x-k8s.io.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/
#pragma once

#include <string_view>

#include "base/json.h"

namespace berth::api::visibility {

// APIGroup, and its bare form as it stands in an APIGroupList.
Json group_document();
Json group_entry();
// APIResourceList. `version` is one that serves() knows, here and below.
Json resource_list(std::string_view version);
// An item of an APIGroupDiscoveryList.
Json aggregated_entry();

// The OpenAPI documents, self-contained: nothing refers to a schema of others.
Json openapi_v3(std::string_view version);
Json openapi_v2();  // of both versions

}  // namespace berth::api::visibility
