// What the kinds of resource.k8s.io/v1 may look like.
#pragma once

#include <optional>
#include <string>

#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/resource.h"

namespace berth::apiserver {

FieldErrors validate_resource_claim(const Json& object, const Lookup& lookup);
// The specification never changes; an allocation is set or cleared, not changed.
FieldErrors validate_resource_claim_update(const Json& object, const Json& old, std::string_view subresource);
FieldErrors validate_resource_claim_template(const Json& object, const Lookup& lookup);
FieldErrors validate_device_class(const Json& object, const Lookup& lookup);
FieldErrors validate_resource_slice(const Json& object, const Lookup& lookup);
FieldErrors validate_resource_slice_update(const Json& object, const Json& old, std::string_view subresource);

// Access for administrators needs a label of the namespace.
std::optional<api::RestResponse> admit_admin_access(Json& object, const Json* old, const Lookup& lookup);

// "pending", "allocated", "allocated,reserved", "deleted,allocated".
std::string claim_state(const Json& claim);

}  // namespace berth::apiserver
