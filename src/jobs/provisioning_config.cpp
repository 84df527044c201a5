#include "jobs/provisioning_config.h"

#include <utility>

namespace berth::jobs {

using api::kueue::AdmissionCheck;
using api::kueue::kProvisioningRequestConfigKind;

Result<ProvisioningConfigPtr> config_of(const AdmissionCheck& check,
                                        const std::function<JsonPtr(std::string_view name)>& find) {
  const std::string wanted = std::string(kProvisioningRequestConfigKind) + "." + std::string(api::kueue::kGroup);
  if (!check.parameters) return fail("spec.parameters is missing: it shall name a " + wanted);
  const auto& ref = *check.parameters;
  if (ref.kind != kProvisioningRequestConfigKind || ref.api_group != api::kueue::kGroup) {
    return fail("spec.parameters names a " + ref.kind + "." + ref.api_group + "; its controller reads a " + wanted);
  }
  const JsonPtr object = find(ref.name);
  if (!object) {
    return fail(wanted + " \"" + ref.name + "\" does not exist: create it, or correct spec.parameters.name");
  }
  auto config = api::kueue::decode_provisioning_request_config(*object);
  if (!config) return tl::unexpected(config.error());
  return std::make_shared<const api::kueue::ProvisioningRequestConfig>(std::move(*config));
}

api::Condition active_condition(const AdmissionCheck& check, const Result<ProvisioningConfigPtr>& config,
                                const std::string& missing) {
  api::Condition active;
  active.type = "Active";
  active.observed_generation = check.meta.generation;
  active.status = missing.empty() && config.has_value();
  active.reason = active.status ? "Active" : !missing.empty() ? "NotSupported" : "BadParametersRef";
  active.message = active.status      ? "The admission check is active"
                   : !missing.empty() ? missing
                                      : config.error().message;
  return active;
}

}  // namespace berth::jobs
