// The autoscaler of the pretend operators. The annotation berth.dev/scale of a pod template says which size a pod set
// has how long after the creation of its job: "1m=4,5m=1". The size is what the description calls countField.
#pragma once

#include <optional>

#include "api/kueue/webhooks/admission.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "jobs/kinds/job_kind.h"

namespace berth::cluster {

struct Scaling {
  std::optional<Json> job;   // with the sizes of now; nullopt: it has them
  std::optional<Time> next;  // when a size changes next; nullopt: none does
};

// Before the first time of a series its pod set keeps its size. Errors: a series that cannot be read, or one of a pod
// set whose description has no countField.
Result<Scaling> scale(const jobs::kinds::JobKindSpec& kind, const Json& job, const api::kueue::ObjectGetter& get,
                      Time now);

}  // namespace berth::cluster
