// The pods of a job of a described kind, as the pretend operator of the kind makes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/field_error.h"
#include "api/kueue/webhooks/admission.h"
#include "base/json.h"
#include "jobs/kinds/job_kind.h"

namespace berth::cluster {

// Labels of these pods: the kind of their job in lower case, and their pod set.
inline constexpr std::string_view kJobKindLabel = "berth.dev/job-kind";
inline constexpr std::string_view kPodSetLabel = "berth.dev/pod-set";

// A job with more pods gets none.
inline constexpr std::int64_t kMaxOperatorPods = 10'000;

struct DescribedPodSet {
  std::string name;
  std::int64_t count = 0;      // at most kMaxOperatorPods
  std::int64_t per_group = 1;  // pods of one group within the pod set; at least 1
  std::int64_t done = 0;       // pods that the status of the job says are done; at most `count`
  bool decides = true;         // the job has succeeded when the pods of all such pod sets have
  std::string index_label, group_label;
  std::string restart_policy;
  Json pod_template;
};

// In order. Appends an error for each pod set that cannot be read and leaves it out, and one when there are more pods
// than kMaxOperatorPods.
std::vector<DescribedPodSet> described_pod_sets(const jobs::kinds::JobKindSpec& kind, const Json& job,
                                                const api::kueue::ObjectGetter& get, api::FieldErrors& errors);

std::string pod_name(std::string_view job, std::string_view set, std::int64_t index);

// The object to create. The job is its controller.
Json make_described_pod(const jobs::kinds::JobKindSpec& kind, const Json& job, const DescribedPodSet& set,
                        std::int64_t index);

// The index of the pod in the pod set by its name; nullopt: it is no pod of the set, or its index is too large.
std::optional<std::int64_t> index_in(const DescribedPodSet& set, std::string_view job, std::string_view pod);

}  // namespace berth::cluster
