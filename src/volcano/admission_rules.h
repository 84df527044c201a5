// The rules for Volcano's resources in the form that webhooks and the embedded server use: first the rules for the
// object itself, then the rules for its place in the queue tree.
#pragma once

#include <memory>
#include <string_view>

#include "api/kueue/webhooks/admission.h"
#include "volcano/admission.h"

namespace berth::volcano {

// For Queues, PodGroups and Jobs of Volcano's groups; all functions are empty for other resources. Writes to a status
// are not checked, as in Volcano. `admission` uses the queues as they are when a rule is called.
api::kueue::AdmissionRules admission_rules(std::string_view group, std::string_view resource,
                                           std::shared_ptr<const Admission> admission);

}  // namespace berth::volcano
