// An API group that another component answers. Discovery lists it with the server's own groups, as kube-apiserver
// lists aggregated APIs.
// https://kubernetes.io/docs/concepts/extend-kubernetes/api-extension/apiserver-aggregation/
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "embedded/apiserver/http/message.h"
#include "embedded/apiserver/http/resource_path.h"

namespace berth::apiserver::discovery {

struct VirtualGroup {
  std::string group;                                        // must not be served otherwise
  std::vector<std::string> versions;                        // preferred version first
  Json entry;                                               // its entry in APIGroupList; with kind added, the APIGroup
  Json aggregated;                                          // its entry in APIGroupDiscoveryList
  std::function<Json(std::string_view version)> resources;  // APIResourceList
  std::function<Json(std::string_view version)> openapi_v3;
  Json openapi_v2;
  // Whether a request about an object of one namespace also tells of others, so that it needs its right in all
  // namespaces; null: none does.
  std::function<bool(const http::Target& target)> requests_everywhere{};
  // Called on the executor for a request about a resource of the group, after authorization. The returned function
  // encodes the response; it is called once, on any thread.
  std::function<std::function<http::HttpResponse()>(std::string_view method, const http::Target& target,
                                                    std::string_view body)>
      answer;

  bool serves(std::string_view version) const;
};

// Add the groups to documents that were built from the server's own resources.
void add_to_group_list(const std::vector<VirtualGroup>& groups, Json& list);
void add_to_aggregated(const std::vector<VirtualGroup>& groups, Json& list);
void add_to_openapi_v2(const std::vector<VirtualGroup>& groups, Json& document);
void add_to_openapi_v3_index(const std::vector<VirtualGroup>& groups, Json& index);
Json group_document(const VirtualGroup& group);

}  // namespace berth::apiserver::discovery
