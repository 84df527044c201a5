// What is wrong with the options of a list or watch, as the API server says it.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list
#pragma once

#include "api/field_error.h"
#include "api/rest.h"

namespace berth::apiserver {

// Of lists, watches, and deletions of what a list would show. The version itself is not looked at.
api::FieldErrors list_option_errors(const api::RestRequest& request);

}  // namespace berth::apiserver
