// The webhooks of a described kind, as functions: what they set on creation and what they refuse.
#pragma once

#include "api/kueue/webhooks/admission.h"
#include "jobs/kinds/job_kind.h"

namespace berth::jobs::kinds {

// `managed`: the kind is switched on. Otherwise nothing is changed or refused, and an object with a queue name gets a
// warning.
api::kueue::JobKindRules rules_of(const JobKindPtr& kind, bool managed);

// Why a new object of the kind is refused when it has a queue. `get` as for find_pod_sets().
api::FieldErrors refusals_of_new(const JobKindSpec& kind, const Json& job, const api::kueue::ObjectGetter& get);

// Whether the description says that this object is left alone although it has a queue.
bool is_skipped(const JobKindSpec& kind, const Json& job);

}  // namespace berth::jobs::kinds
