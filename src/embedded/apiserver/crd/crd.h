// CustomResourceDefinitions: their validation, and the resources that they define.
#pragma once

#include <vector>

#include "api/field_error.h"
#include "embedded/apiserver/resource.h"

namespace berth::apiserver {

// The resource customresourcedefinitions.apiextensions.k8s.io itself.
ResourcePtr crd_resource();
// One resource per served version. Fails only for a CRD that validation would have rejected.
Result<std::vector<ResourcePtr>> resources_of_crd(const Json& crd);
// The CRD's status after its names were accepted: conditions, acceptedNames, storedVersions.
Json established_status(const Json& crd, Time now);

// Validates the content of a custom object, in kube-apiserver's order: schema, scale paths, metadata of embedded
// resources, list sets and maps, then rules. If earlier errors prevent the rules, one error says that they were not
// checked. `old` is null on create. `subresource` is "" or "status": a status write checks only the schema of status,
// but all rules. The caller validates the object's own metadata.
api::FieldErrors validate_custom_object(const Json& object, const Json* old, const ResourceInfo& resource,
                                        std::string_view subresource);

}  // namespace berth::apiserver
