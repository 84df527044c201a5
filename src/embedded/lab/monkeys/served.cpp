#include "embedded/lab/monkeys/served.h"

#include <set>
#include <string>
#include <utility>

#include "embedded/apiserver/openapi/openapi.h"

namespace berth::lab {

MonkeyKinds kinds_of(const apiserver::Registry& registry) {
  const auto resources = registry.all();
  std::set<std::pair<std::string, std::string>> versions;
  for (const auto& resource : resources) versions.emplace(resource->gvr.group, resource->gvr.version);
  MonkeyKinds kinds;
  for (const auto& [group, version] : versions) kinds.read(apiserver::openapi::v3_document(group, version, resources));
  return kinds;
}

}  // namespace berth::lab
