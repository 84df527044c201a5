// Validation of Jobs. https://kubernetes.io/docs/concepts/workloads/controllers/job/
#pragma once

#include "api/field_error.h"
#include "base/json.h"

namespace berth::apiserver {

// For a new or updated Job: selector, counts, modes, policies, template.
void validate_job(const Json& job, api::FieldErrors& errors);
// Checks immutable fields, and those that may change only while the Job is suspended and has not started.
void validate_job_update(const Json& job, const Json& old, api::FieldErrors& errors);
// Checks that a status is consistent: counts, times, mutually exclusive conditions, no change after the Job has
// finished (job_status_validation.cpp).
void validate_job_status_update(const Json& job, const Json& old, api::FieldErrors& errors);

// The labels that tie pods to this Job; the selector uses them.
inline constexpr std::string_view kControllerUidLabel = "batch.kubernetes.io/controller-uid";
inline constexpr std::string_view kJobNameLabel = "batch.kubernetes.io/job-name";
inline constexpr std::string_view kLegacyControllerUidLabel = "controller-uid";
inline constexpr std::string_view kLegacyJobNameLabel = "job-name";

}  // namespace berth::apiserver
