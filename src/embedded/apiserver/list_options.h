// Validates the options of a list or watch, with the error messages of the API server.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list
#pragma once

#include "api/field_error.h"
#include "api/rest.h"

namespace berth::apiserver {

// For list, watch and deletecollection. Does not check the format of resourceVersion.
api::FieldErrors list_option_errors(const api::RestRequest& request);

}  // namespace berth::apiserver
