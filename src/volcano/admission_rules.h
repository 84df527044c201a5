// The rules for Volcano's resources in the form in which the doors of admission (webhooks, the embedded server) take
// them: what an object must satisfy on its own, and then how it stands to the queues.
#pragma once

#include <memory>
#include <string_view>

#include "api/kueue/admission.h"
#include "volcano/admission.h"

namespace berth::volcano {

// Of queues, podgroups and jobs of Volcano's groups; all functions empty for everything else. What is written to
// statuses is not looked at, as in Volcano. `admission` answers for the queues as they are when it is asked.
api::kueue::AdmissionRules admission_rules(std::string_view group, std::string_view resource,
                                           std::shared_ptr<const Admission> admission);

}  // namespace berth::volcano
