#include "embedded/apiserver/http/resource_path.h"

#include <algorithm>
#include <string_view>

namespace berth::apiserver::http {

std::optional<ResourcePath> resource_path(const std::vector<std::string>& segments) {
  if (std::ranges::find(segments, std::string_view()) != segments.end()) return std::nullopt;
  ResourcePath p;
  std::size_t i = 0;
  if (segments.size() > 2 && segments[0] == "api") {
    p.resource.version = segments[1];
    i = 2;
  } else if (segments.size() > 3 && segments[0] == "apis") {
    p.resource.group = segments[1];
    p.resource.version = segments[2];
    i = 3;
  } else {
    return std::nullopt;
  }
  // "namespaces/x/status" names the namespace; "namespaces/x/pods" names pods in it.
  const std::size_t left = segments.size() - i;
  const bool of_namespace = left >= 3 && (segments[i + 2] == "status" || segments[i + 2] == "finalize");
  if (segments[i] == "namespaces" && left >= 3 && !of_namespace) {
    p.ns = segments[i + 1];
    i += 2;
  }
  p.resource.resource = segments[i++];
  if (i < segments.size()) p.name = segments[i++];
  for (; i < segments.size(); ++i) p.subresource += (p.subresource.empty() ? "" : "/") + segments[i];
  return p;
}

}  // namespace berth::apiserver::http
