#include "api/volcano/defaulting.h"

#include <string>

#include "api/volcano/names.h"

namespace berth::api::volcano {

void default_queue(Json& object) {
  const std::string path(string_at(object, {"metadata", "annotations", kHierarchy}));
  const std::string weights(string_at(object, {"metadata", "annotations", kHierarchyWeights}));
  if (!path.empty() && !weights.empty() && !path.starts_with(kRootQueue)) {
    ensure_path(object, {"metadata", "annotations", kHierarchy}) = std::string(kRootQueue) + "/" + path;
    ensure_path(object, {"metadata", "annotations", kHierarchyWeights}) = "1/" + weights;
  }
  const Json* reclaimable = find_path(object, {"spec", "reclaimable"});
  if (reclaimable == nullptr || reclaimable->is_null()) ensure_path(object, {"spec", "reclaimable"}) = true;
  if (int_at(object, {"spec", "weight"}) == 0) ensure_path(object, {"spec", "weight"}) = 1;
}

void default_pod_group(Json& object, std::string_view queue_of_namespace) {
  if (queue_of_namespace.empty() || string_at(object, {"spec", "queue"}, kDefaultQueue) != kDefaultQueue) return;
  ensure_path(object, {"spec", "queue"}) = queue_of_namespace;
}

}  // namespace berth::api::volcano
