// Rules of admission that sit behind webhooks elsewhere, joined to the embedded server's kinds in process.
#pragma once

#include <memory>

#include "api/kueue/admission.h"
#include "apiserver/resource.h"

namespace berth::apiserver {

// The kind with the rules behind its own; itself when they are empty. `policy` is never null.
ResourcePtr with_rules(ResourcePtr resource, api::kueue::AdmissionRules rules,
                       std::shared_ptr<const api::kueue::AdmissionPolicy> policy);

}  // namespace berth::apiserver
