// Adds admission rules, which run in webhooks in a real cluster, to kinds of the embedded server, in process.
#pragma once

#include <memory>

#include "api/kueue/webhooks/admission.h"
#include "embedded/apiserver/resource.h"

namespace berth::apiserver {

// Returns the kind with `rules` run after its own; returns `resource` itself when `rules` are empty. `policy` is
// never null.
ResourcePtr with_rules(ResourcePtr resource, api::kueue::AdmissionRules rules,
                       std::shared_ptr<const api::kueue::AdmissionPolicy> policy);

}  // namespace berth::apiserver
