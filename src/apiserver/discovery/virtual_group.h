// A group of the API that others answer: shown among those of the server's own, as kube-apiserver shows aggregated ones.
// https://kubernetes.io/docs/concepts/extend-kubernetes/api-extension/apiserver-aggregation/
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/http/message.h"
#include "apiserver/http/resource_path.h"
#include "base/json.h"

namespace berth::apiserver::discovery {

struct VirtualGroup {
  std::string group;                  // not served otherwise
  std::vector<std::string> versions;  // the preferred one first
  Json entry;                         // as it stands in APIGroupList and, with its kind, as APIGroup
  Json aggregated;                    // as it stands in APIGroupDiscoveryList
  std::function<Json(std::string_view version)> resources;   // APIResourceList
  std::function<Json(std::string_view version)> openapi_v3;
  Json openapi_v2;
  // On the executor: answers a request about a resource of the group that its sender may make. The result encodes the answer, on
  // any thread, once.
  std::function<std::function<http::HttpResponse()>(std::string_view method, const http::Target& target)> answer;

  bool serves(std::string_view version) const;
};

// Puts the groups into documents that were made of the server's own resources.
void add_to_group_list(const std::vector<VirtualGroup>& groups, Json& list);
void add_to_aggregated(const std::vector<VirtualGroup>& groups, Json& list);
void add_to_openapi_v2(const std::vector<VirtualGroup>& groups, Json& document);
void add_to_openapi_v3_index(const std::vector<VirtualGroup>& groups, Json& index);
Json group_document(const VirtualGroup& group);

}  // namespace berth::apiserver::discovery
