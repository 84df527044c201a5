// What Kueue's admission and conversion webhooks do, in process: the embedded server calls the functions that sit
// behind webhooks elsewhere.
#pragma once

#include "api/kueue/admission.h"
#include "apiserver/resource.h"

namespace berth::apiserver {

// For ApiServerOptions::admission. Kinds that no webhook looks at are returned as they are.
std::function<ResourcePtr(ResourcePtr)> kueue_webhooks(api::kueue::AdmissionPolicy policy);
// The same with the policy of an installation that nothing was said about.
ResourcePtr with_kueue_webhooks(ResourcePtr resource);
// Conversion between v1beta1 and v1beta2 alone.
ResourcePtr with_kueue_conversion(ResourcePtr resource);

}  // namespace berth::apiserver
