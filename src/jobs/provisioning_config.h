// Whether an AdmissionCheck for provisioning can work, and with which configuration.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/kueue/provisioning_request_config.h"
#include "api/kueue/types.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::jobs {

using ProvisioningConfigPtr = std::shared_ptr<const api::kueue::ProvisioningRequestConfig>;

// The configuration that the check names. `find` returns a ProvisioningRequestConfig by name, or null. Errors say
// what to change.
Result<ProvisioningConfigPtr> config_of(const api::kueue::AdmissionCheck& check,
                                        const std::function<JsonPtr(std::string_view name)>& find);

// The check's condition Active. `missing`: what the cluster lacks, so that no such check can work; empty: nothing.
api::Condition active_condition(const api::kueue::AdmissionCheck& check, const Result<ProvisioningConfigPtr>& config,
                                const std::string& missing);

}  // namespace berth::jobs
