// The kinds that an API server serves, as its OpenAPI documents tell: what can be written, and what it looks
// like. https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "base/json.h"

namespace berth::simulate {

struct MonkeyKind {
  api::GroupVersionResource gvr;
  std::string kind;
  bool namespaced = false, has_status = false;
  const Json* schema = nullptr;  // of the whole object; belongs to MonkeyKinds

  std::string api_version() const { return gvr.group.empty() ? gvr.version : gvr.group + "/" + gvr.version; }
};

class MonkeyKinds {
 public:
  // One document of /openapi/v3/<path>. Kinds that cannot be created, listed and deleted are left out.
  void read(Json document);

  // In the order of group, version and resource.
  std::vector<const MonkeyKind*> all() const;
  // "workloads.kueue.x-k8s.io", "pods": of all served versions the one that was read last. Null: not served.
  const MonkeyKind* find(std::string_view resource) const;
  const MonkeyKind* find(const api::GroupVersionResource& gvr) const;

  // Follows references, also those that stand alone in allOf.
  const Json& resolve(const MonkeyKind& kind, const Json& schema) const;

 private:
  struct Entry {
    MonkeyKind kind;
    std::shared_ptr<const Json> document;
  };
  std::map<api::GroupVersionResource, Entry> entries_;
};

// A request that names `object`.
api::RestRequest request_about(const MonkeyKind& kind, const Json& object, api::Verb verb);

}  // namespace berth::simulate
