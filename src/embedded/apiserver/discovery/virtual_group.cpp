#include "embedded/apiserver/discovery/virtual_group.h"

#include <algorithm>

#include "embedded/apiserver/openapi/openapi.h"

namespace berth::apiserver::discovery {
namespace {

void append(Json& document, std::string_view key, const Json& item) {
  ensure_path(document, {key}).as_array().push_back(item);
}

void add_members(Json& document, std::string_view key, const Json& other) {
  JsonObject& members = ensure_path(document, {key}).as_object();
  for (const auto& [name, value] : object_at(other, {key})) members[name] = value;
}

}  // namespace

bool VirtualGroup::serves(std::string_view version) const {
  return std::ranges::find(versions, version) != versions.end();
}

void add_to_group_list(const std::vector<VirtualGroup>& groups, Json& list) {
  for (const VirtualGroup& g : groups) append(list, "groups", g.entry);
}

void add_to_aggregated(const std::vector<VirtualGroup>& groups, Json& list) {
  for (const VirtualGroup& g : groups) append(list, "items", g.aggregated);
}

void add_to_openapi_v2(const std::vector<VirtualGroup>& groups, Json& document) {
  for (const VirtualGroup& g : groups) {
    add_members(document, "paths", g.openapi_v2);
    add_members(document, "definitions", g.openapi_v2);
  }
}

void add_to_openapi_v3_index(const std::vector<VirtualGroup>& groups, Json& index) {
  for (const VirtualGroup& g : groups) {
    for (const std::string& version : g.versions)
      openapi::add_to_v3_index(g.group, version, g.openapi_v3(version), index);
  }
}

Json group_document(const VirtualGroup& group) {
  JsonObject out{{"kind", "APIGroup"}, {"apiVersion", "v1"}};
  for (const auto& [key, value] : group.entry.as_object()) out[key] = value;
  return out;
}

}  // namespace berth::apiserver::discovery
