// The rules of Jobs. https://kubernetes.io/docs/concepts/workloads/controllers/job/
#pragma once

#include "api/field_error.h"
#include "base/json.h"

namespace berth::apiserver {

// A new or changed Job: selector, counts, modes, policies, template.
void validate_job(const Json& job, api::FieldErrors& errors);
// What may not change, and what may while the Job is suspended and has not started.
void validate_job_update(const Json& job, const Json& old, api::FieldErrors& errors);
// A status that tells the truth: counts, times, conditions that exclude each other, no way back from an end
// (job_status_validation.cpp).
void validate_job_status_update(const Json& job, const Json& old, api::FieldErrors& errors);

// Labels and selector that tie pods to this Job.
inline constexpr std::string_view kControllerUidLabel = "batch.kubernetes.io/controller-uid";
inline constexpr std::string_view kJobNameLabel = "batch.kubernetes.io/job-name";
inline constexpr std::string_view kLegacyControllerUidLabel = "controller-uid";
inline constexpr std::string_view kLegacyJobNameLabel = "job-name";

}  // namespace berth::apiserver
