#include "kube/decoded_objects.h"

namespace berth::kube {

std::optional<Json> leaving_object(const Json& now) {
  const Json* metadata = find(now, "metadata");
  if (metadata == nullptr || find(*metadata, "deletionTimestamp") == nullptr) return std::nullopt;
  return Json(JsonObject{
      {"apiVersion", string_at(now, {"apiVersion"})}, {"kind", string_at(now, {"kind"})}, {"metadata", *metadata}});
}

}  // namespace berth::kube
