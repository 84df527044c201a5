// Whether an admission check that asks for nodes can do so, and with which configuration.
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

// The configuration that the check names; `find` gives a ProvisioningRequestConfig by name, or null. Fails
// with a sentence that says what to change.
Result<ProvisioningConfigPtr> config_of(const api::kueue::AdmissionCheck& check,
                                        const std::function<JsonPtr(std::string_view name)>& find);

// The check's condition Active. `missing` says what the cluster lacks for any such check to work; empty:
// nothing.
api::Condition active_condition(const api::kueue::AdmissionCheck& check,
                                const Result<ProvisioningConfigPtr>& config, const std::string& missing);

}  // namespace berth::jobs
