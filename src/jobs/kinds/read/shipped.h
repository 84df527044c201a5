// The descriptions that ship with Berth: the files in jobs/kinds/shipped.
#pragma once

#include <vector>

#include "jobs/kinds/job_kind.h"

namespace berth::jobs::kinds {

// The descriptions that ship with Berth, by framework. Compiled once.
const std::vector<JobKindPtr>& shipped_job_kinds();

}  // namespace berth::jobs::kinds
