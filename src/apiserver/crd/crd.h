// CustomResourceDefinitions: their own validation, and the resources they stand for.
#pragma once

#include <vector>

#include "api/field_error.h"
#include "apiserver/resource.h"

namespace berth::apiserver {

// The resource customresourcedefinitions.apiextensions.k8s.io itself.
ResourcePtr crd_resource();
// One resource per served version. Fails only for a CRD that validation would have refused.
Result<std::vector<ResourcePtr>> resources_of_crd(const Json& crd);
// The CRD's status as a server sets it after names were accepted: conditions, acceptedNames, storedVersions.
Json established_status(const Json& crd, Time now);

// All that a server checks of a custom object's content, in its order: schema, scale paths, metadata of
// embedded resources, list sets and maps, then rules, unless an error before them hides their fields (then
// one error says that they were not checked). `old` is null on create; `subresource` is "" or "status": a
// status write checks the schema of status alone, but all rules. The metadata of the object itself is the
// caller's.
api::FieldErrors validate_custom_object(const Json& object, const Json* old, const ResourceInfo& resource,
                                        std::string_view subresource);

}  // namespace berth::apiserver
