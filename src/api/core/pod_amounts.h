// The amounts of resources in a pod's spec: one rule for every place where one can stand.
#pragma once

#include <string>

#include "api/core/pod_resources.h"

namespace berth::api {

// Appends an error for each negative amount of a container of any kind, of the pod itself and of its overhead, and for
// each amount of `pods`, which Berth counts itself. Paths start with `path`. Amounts that are no quantities have no
// error here: the schema refuses them.
void check_pod_amounts(const Json& pod_spec, const std::string& path, FieldErrors& errors);
// The same for one list of amounts.
void check_amounts(const Json& owner, std::string_view list, const std::string& path, FieldErrors& errors);

// The list with zero in place of each negative amount. What is stored may have some, from before they were refused;
// they must not pay for anything else.
ResourceList at_least_zero(ResourceList list);

}  // namespace berth::api
