// The values of --node-labels, --node-taints, --tolerations and --namespace-selector, as parts of objects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace berth::cli::queues {

// Errors name the flag, the value and what was expected.
Result<JsonObject> parse_labels(std::string_view flag, const std::vector<std::string>& values);  // KEY=VALUE,...
Result<JsonArray> parse_taints(std::string_view flag,
                               const std::vector<std::string>& values);  // KEY[=VALUE]:EFFECT,...
// KEY[=VALUE][:EFFECT],... A toleration without a value is for any value, one without an effect for any effect, and
// :EFFECT for every taint of this effect.
Result<JsonArray> parse_tolerations(std::string_view flag, const std::vector<std::string>& values);
// A selector such as "team=a,env in (dev,test),!legacy" as metav1.LabelSelector.
Result<JsonObject> parse_selector(std::string_view flag, std::string_view value);

}  // namespace berth::cli::queues
