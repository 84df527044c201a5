// Reads Kueue's feature gates and applies them to settings of the engine and of jobs (gates.h lists them). The syntax
// is that of Kubernetes:
// https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates/
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/config/fields.h"
#include "base/json.h"
#include "base/result.h"
#include "controller/gates.h"

namespace berth::controller {

using FeatureGates = std::map<std::string, bool>;

// The API of pending workloads (KEP-168); on by default.
inline constexpr std::string_view kVisibilityGate = "VisibilityOnDemand";
// Labels of queues as labels of metrics (KEP-7066); off by default.
inline constexpr std::string_view kCustomLabelsGate = "CustomMetricLabels";

// The gate's value, `otherwise` when it is not named.
bool gate_or(const FeatureGates& gates, std::string_view name, bool otherwise);

// Parses "TASBalancedPlacement=true,PartialAdmission=false"; an empty text gives no gates. Errors quote the part that
// cannot be parsed.
Result<FeatureGates> parse_feature_gates(std::string_view text);
// Decodes {TASBalancedPlacement: true}. `path` names the object in errors.
Result<FeatureGates> decode_feature_gates(const Json& object, std::string_view path);

// It is an error to name a gate that neither Kueue nor Berth has (the message says the nearest one), and to switch off
// what keeps jobs from running without quota. Errors name the gate. `path`: that of the mapping, for errors; "" when
// there is none.
Result<void> check_feature_gates(const FeatureGates& gates, std::string_view path = {});

// The values that Berth does not honour, in order of name; for gates that check_feature_gates() accepts. Lines as
// "featureGates.MultiKueue: is true, but Berth does not have it: CONSEQUENCE".
std::vector<api::config::NotHonoured> not_honoured(const FeatureGates& gates, std::string_view path = {});

// Applies the gates and checks them, and that they agree: a gate that is on needs its parent gate. After an error,
// `options` and `job_gates` are unchanged.
Result<void> apply_feature_gates(const FeatureGates& gates, engine::Options& options, jobs::JobGates& job_gates,
                                 std::string_view path = {});

}  // namespace berth::controller
