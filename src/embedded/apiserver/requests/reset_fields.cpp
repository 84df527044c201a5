#include "embedded/apiserver/requests/reset_fields.h"

namespace berth::apiserver {

std::vector<std::string> reset_fields(const ResourceInfo& resource, std::string_view subresource) {
  if (!resource.has_status) return {};
  if (subresource != "status") return {"status"};
  if (!resource.custom) return {"spec"};
  std::vector<std::string> fields{"metadata"};
  if (resource.schema == nullptr) return fields;
  for (const auto& [name, schema] : resource.schema->properties) {
    if (name != "status" && name != "metadata" && name != "apiVersion" && name != "kind") fields.push_back(name);
  }
  return fields;
}

}  // namespace berth::apiserver
