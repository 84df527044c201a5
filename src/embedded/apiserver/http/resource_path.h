// Parses the path of a resource.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/rest.h"
#include "http/target.h"

namespace berth::apiserver::http {

using berth::http::kMaxTargetBytes;
using berth::http::parse_target;
using berth::http::Query;
using berth::http::Target;

struct ResourcePath {
  api::GroupVersionResource resource;
  std::string ns, name, subresource;
};
// nullopt for paths that name no resource: "/version", "/apis/batch/v1", "/apis//v1/pods".
std::optional<ResourcePath> resource_path(const std::vector<std::string>& segments);

}  // namespace berth::apiserver::http
