// Which jobs MultiKueue sends to other clusters, by their queues.
#pragma once

#include "api/kueue/webhooks/admission.h"

namespace berth::api::kueue {

// Whether the ClusterQueue of a job has a check of MultiKueue, as far as it is known.
bool is_dispatched(const Json& job, const AdmissionContext& admission);

}  // namespace berth::api::kueue
