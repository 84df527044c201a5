#include "api/kueue/validation/resource_flavor.h"

#include "api/core/validation.h"

namespace berth::api::kueue {

FieldErrors validate_resource_flavor(const Json& object) {
  FieldErrors errors;
  check_labels(object_at(object, {"spec", "nodeLabels"}), "spec.nodeLabels", errors);
  check_taints(array_at(object, {"spec", "nodeTaints"}), "spec.nodeTaints", errors);
  check_tolerations(array_at(object, {"spec", "tolerations"}), "spec.tolerations", errors);
  return errors;
}

}  // namespace berth::api::kueue
