// Reads the description of a kind of job, a YAML file. docs/job-kinds.md describes the format.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "cel/types.h"
#include "jobs/kinds/job_kind.h"

namespace berth::jobs::kinds {

inline constexpr std::string_view kDescriptionVersion = "berth.dev/v1alpha1";
inline constexpr std::string_view kDescriptionKind = "JobKind";

// What of a description is compared with the schema of its kind.
enum class SchemaCheck : std::uint8_t { kAll, kPaths };

// Reads one description. `origin` names the file in errors; each error is a line "origin:12: field: what was expected".
// `self`: the type of objects of the kind, from its CustomResourceDefinition; null: not checked.
Result<JobKindPtr> read_job_kind(std::string_view yaml, std::string_view origin, const cel::TypePtr& self = nullptr,
                                 SchemaCheck check = SchemaCheck::kAll);

}  // namespace berth::jobs::kinds
