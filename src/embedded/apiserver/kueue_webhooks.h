// Kueue's admission and conversion webhooks, in process: the embedded server calls the functions that a real cluster
// calls through webhooks.
#pragma once

#include "api/kueue/webhooks/admission.h"
#include "embedded/apiserver/resource.h"

namespace berth::apiserver {

// For ApiServerOptions::admission. Returns kinds without a webhook unchanged.
std::function<ResourcePtr(ResourcePtr)> kueue_webhooks(api::kueue::AdmissionPolicy policy);
// The same with the default policy.
ResourcePtr with_kueue_webhooks(ResourcePtr resource);
// Only the conversion between v1beta1 and v1beta2.
ResourcePtr with_kueue_conversion(ResourcePtr resource);

}  // namespace berth::apiserver
