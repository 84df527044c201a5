// Access to a Workload's JSON, for the checks on creation and on update.
#pragma once

#include <string_view>

#include "base/json.h"

namespace berth::api::kueue {

std::string_view pod_set_name(const Json& value);  // "main" when it has none
const Json* find_pod_set(const JsonArray& pod_sets, std::string_view name);
bool is_condition_true(const Json& workload, std::string_view type);
bool is_elastic(const Json& workload);

}  // namespace berth::api::kueue
