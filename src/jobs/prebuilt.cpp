#include "jobs/prebuilt.h"

#include "api/kueue/names.h"

namespace berth::jobs {

std::string_view prebuilt_workload(const Json& job, bool annotations) {
  if (annotations) {
    const auto name = string_at(job, {"metadata", "annotations", api::kueue::kPrebuiltWorkload});
    if (!name.empty()) return name;
  }
  return string_at(job, {"metadata", "labels", api::kueue::kPrebuiltWorkload});
}

}  // namespace berth::jobs
