// From stored objects back to a resource that serves them.
#pragma once

#include <string_view>

#include "apiserver/server/core.h"

namespace berth::apiserver {

// The resource whose objects are in `bucket`, in the version they are stored in if that is served; null when
// none is.
inline ResourcePtr find_resource(const Registry& registry, std::string_view bucket) {
  ResourcePtr found;
  for (const ResourcePtr& resource : registry.all()) {
    if (bucket_of(*resource) != bucket) continue;
    if (found == nullptr || resource->gvr.version == resource->storage_version) found = resource;
  }
  return found;
}

}  // namespace berth::apiserver
