// The label of a workload that names the UID of its job.
#pragma once

#include <string_view>

namespace berth::api::kueue {

inline constexpr std::string_view kJobUidLabel = "kueue.x-k8s.io/job-uid";

}  // namespace berth::api::kueue
