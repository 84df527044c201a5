// Discovery and OpenAPI documents of the group visibility.kueue.x-k8s.io.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/
#pragma once

#include <string_view>

#include "base/json.h"

namespace berth::api::visibility {

// APIGroup; and its form as an item of an APIGroupList, without kind and apiVersion.
Json group_document();
Json group_entry();
// APIResourceList. `version` must be one for which serves() is true, here and below.
Json resource_list(std::string_view version);
// An item of an APIGroupDiscoveryList.
Json aggregated_entry();

// The OpenAPI documents, self-contained: no reference to other documents.
Json openapi_v3(std::string_view version);
Json openapi_v2();  // of both versions

}  // namespace berth::api::visibility
