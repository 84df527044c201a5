// Tells which settings a process does not honour: in its log and in a metric.
#pragma once

#include <vector>

#include "api/config/fields.h"
#include "base/metrics.h"

namespace berth::controller {

// Sets berth_settings_not_honoured{setting} to 1 for each, and logs its line as a warning; call once.
void report_not_honoured(Metrics& metrics, const std::vector<api::config::NotHonoured>& settings);

}  // namespace berth::controller
