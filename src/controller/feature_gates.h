// Kueue's feature gates, by name, as settings of the engine and of jobs: those that Berth honours, and clear
// words for all others. https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates/ (the
// syntax)
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "engine/engine.h"
#include "jobs/job_facts.h"

namespace berth::controller {

using FeatureGates = std::map<std::string, bool>;

// "TASBalancedPlacement=true,PartialAdmission=false"; empty: none. Errors name the part that cannot be read.
Result<FeatureGates> parse_feature_gates(std::string_view text);
// {TASBalancedPlacement: true}. `path` names the object in errors.
Result<FeatureGates> decode_feature_gates(const Json& object, std::string_view path);

// Sets what the gates say and checks that they agree: a gate that is on needs the one it depends on. Errors
// name the gate: one that Berth does not know (with those it knows), one whose feature is always on or not
// there, one whose parent is off. Both are unchanged after an error. `path`: of the mapping they are from,
// for errors; "" none.
Result<void> apply_feature_gates(const FeatureGates& gates, engine::Options& options,
                                 jobs::JobGates& job_gates, std::string_view path = {});

}  // namespace berth::controller
