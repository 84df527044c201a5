// Finds the resource that serves a stored object.
#pragma once

#include <string_view>

#include "embedded/apiserver/requests/core.h"

namespace berth::apiserver {

// The resource whose objects are in `bucket`, preferably in its storage version; null when no version is served.
inline ResourcePtr find_resource(const Registry& registry, std::string_view bucket) {
  ResourcePtr found;
  for (const ResourcePtr& resource : registry.all()) {
    if (bucket_of(*resource) != bucket) continue;
    if (found == nullptr || resource->gvr.version == resource->storage_version) found = resource;
  }
  return found;
}

}  // namespace berth::apiserver
