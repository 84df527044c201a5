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

}  // namespace berth::apiserver
