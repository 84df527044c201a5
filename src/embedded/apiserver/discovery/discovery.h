// Serves /version, /api, /apis and below, /openapi, health and metrics. Use it on the executor.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "embedded/apiserver/discovery/health.h"
#include "embedded/apiserver/discovery/virtual_group.h"
#include "embedded/apiserver/http/message.h"
#include "embedded/apiserver/http/resource_path.h"
#include "embedded/apiserver/registry.h"

namespace berth::apiserver::discovery {

struct DiscoveryOptions {
  std::vector<HealthCheck> checks;
  std::function<std::string()> metrics;  // returns the text of /metrics; empty: the page does not exist
  std::string server_address;            // the "host:port" in the response of /api
  std::vector<VirtualGroup> virtual_groups;
};

class Discovery {
 public:
  Discovery(const Registry& registry, DiscoveryOptions options);

  // nullopt: the path does not belong to discovery.
  std::optional<http::HttpResponse> get(const http::HttpRequest& request, const http::Target& target);
  const VirtualGroup* virtual_group(std::string_view group) const;  // null: not a virtual group

 private:
  struct Document {
    std::string body;
    std::string etag;
  };
  // Documents are built once per generation of the registry.
  std::shared_ptr<const Document> cached(const std::string& key,
                                         const std::function<std::optional<std::string>()>& make);
  std::optional<http::HttpResponse> group_document(const http::HttpRequest& request, const http::Target& target);
  http::HttpResponse root_document(const http::HttpRequest& request, const http::Target& target, bool core);
  std::optional<http::HttpResponse> openapi(const http::HttpRequest& request, const http::Target& target);
  http::HttpResponse paths();
  std::optional<Json> plain_document(const http::Target& target) const;
  std::optional<Json> openapi_v3_document(const std::string& group, const std::string& version) const;

  const Registry& registry_;
  DiscoveryOptions options_;
  std::uint64_t generation_ = 0;
  std::map<std::string, std::shared_ptr<const Document>> documents_;
};

Json version_document();

}  // namespace berth::apiserver::discovery
