// The kinds that an API server serves, with their schemas, read from its OpenAPI documents.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "base/json.h"

namespace berth::lab {

struct MonkeyKind {
  api::GroupVersionResource gvr;
  std::string kind;
  bool namespaced = false, has_status = false;
  const Json* schema = nullptr;  // of the whole object; owned by MonkeyKinds

  std::string api_version() const { return gvr.group.empty() ? gvr.version : gvr.group + "/" + gvr.version; }
};

class MonkeyKinds {
 public:
  // Reads one document of /openapi/v3/<path>. Skips kinds that cannot be created, listed and read by name.
  void read(Json document);

  // Ordered by group, version and resource.
  std::vector<const MonkeyKind*> all() const;
  // `resource`: "workloads.kueue.x-k8s.io", "pods". Of several served versions, the last in the order of all(). Null:
  // not served.
  const MonkeyKind* find(std::string_view resource) const;
  const MonkeyKind* find(const api::GroupVersionResource& gvr) const;

  // Follows $ref, also when it is the only entry of allOf.
  const Json& resolve(const MonkeyKind& kind, const Json& schema) const;

 private:
  struct Entry {
    MonkeyKind kind;
    std::shared_ptr<const Json> document;
  };
  std::map<api::GroupVersionResource, Entry> entries_;
};

// A request with the given verb for `object`.
api::RestRequest request_about(const MonkeyKind& kind, const Json& object, api::Verb verb);

}  // namespace berth::lab
